import type { FastifyInstance } from 'fastify'
import type { Health } from '../contract.ts'
import type { ControlDeps } from '../control-parts.ts'
import { HealthSchema, ReadinessSchema } from '../schemas.ts'

/** Health (the process listens) and readiness (it can serve). Open to everybody: orchestrators ask without a token. */
export async function healthRoutes(
  app: FastifyInstance,
  { version, instance, wallNow, readiness }: ControlDeps,
): Promise<void> {
  const started = wallNow()
  const content = { 'application/json': { schema: ReadinessSchema } }
  const response = {
    200: { description: 'It can.', content },
    503: { description: 'Not yet, or not now, and why.', content },
  }
  app.get(
    '/_sandbox/health',
    {
      config: { open: true },
      schema: {
        tags: ['Control'],
        operationId: 'get_health',
        summary: 'Does the process listen?',
        response: { 200: HealthSchema },
      },
    },
    (): Health => {
      return { status: 'ok', version, instance, uptime_seconds: Math.floor((wallNow() - started) / 1000) }
    },
  )
  app.get(
    '/_sandbox/ready',
    {
      config: { open: true },
      schema: { tags: ['Control'], operationId: 'get_readiness', summary: 'Can it serve?', response },
    },
    (_request, reply) => {
      const state = readiness()
      return state.ready ? state : reply.code(503).header('retry-after', '1').send(state)
    },
  )
}
