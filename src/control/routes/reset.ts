import type { FastifyInstance } from 'fastify'
import type { ControlParts } from '../control-parts.ts'

/** Back to the fixtures. */
export async function resetRoutes(app: FastifyInstance, { reset, readiness }: ControlParts): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'reset',
    summary: 'Back to the fixtures: state, chain, faults, clock',
  }
  app.post('/_sandbox/reset', { schema }, async () => {
    await reset()
    return readiness()
  })
}
