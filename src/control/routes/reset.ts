import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { ReadinessSchema } from '../schemas.ts'
import { noteTaken } from '../taken-away.ts'

/** Resets a namespace to its fixtures. */
export async function resetRoutes(app: FastifyInstance): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'reset',
    summary: 'Back to the fixtures: state, chain, faults, clock',
    response: { 200: ReadinessSchema },
  }
  const config = { errors: ['chain_unavailable', 'service_unavailable', 'sandbox_starting'] } as const
  app.post('/reset', { schema, config }, async (request) => {
    const { reset, readiness } = controlOf(request)
    noteTaken(request, 'resets')
    await reset()
    return readiness()
  })
}
