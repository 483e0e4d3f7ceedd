import type { FastifyInstance } from 'fastify'
import type { Health } from '../contract.ts'
import type { ControlDeps } from '../control-parts.ts'
import { HealthSchema, ReadinessSchema } from '../schemas.ts'

/** Health (the process listens) and readiness (it can serve). Open to everybody: orchestrators ask without a token. */
export async function healthRoutes(app: FastifyInstance, { version, sandboxOf }: ControlDeps): Promise<void> {
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
    (request): Health => {
      const { instance, uptime } = sandboxOf(request)
      return { status: 'ok', version, instance, uptime_seconds: Math.floor(uptime() / 1000) }
    },
  )
  app.get(
    '/_sandbox/ready',
    {
      config: { open: true },
      schema: { tags: ['Control'], operationId: 'get_readiness', summary: 'Can it serve?', response },
    },
    (request, reply) => {
      const state = sandboxOf(request).readiness()
      return state.ready ? state : reply.code(503).header('retry-after', '1').send(state)
    },
  )
}
