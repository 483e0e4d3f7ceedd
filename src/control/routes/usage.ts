import type { FastifyInstance } from 'fastify'
import { METRICS_TYPE } from '../../support/prometheus-text.ts'
import type { ControlDeps } from '../control-parts.ts'
import { MetricsSchema, UsageSchema } from '../usage-schemas.ts'

const [type = ''] = METRICS_TYPE.split(';')

/** What the sandbox and each of its namespaces use, for people and for Prometheus. */
export async function usageRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  app.get(
    '/_sandbox/usage',
    {
      schema: {
        tags: ['Control'],
        operationId: 'get_usage',
        summary: 'What the sandbox and each namespace use: requests, Anvils, memory, records',
        response: { 200: UsageSchema },
      },
    },
    (request) => {
      const { usage, isForwarded } = sandboxOf(request)
      return usage({ hereAlone: isForwarded(request.raw) })
    },
  )
  app.get(
    '/_sandbox/metrics',
    {
      schema: {
        tags: ['Control'],
        operationId: 'get_metrics',
        summary: 'The same for Prometheus',
        response: { 200: { description: 'The metrics.', content: { [type]: { schema: MetricsSchema } } } },
      },
    },
    async (request, reply) =>
      reply
        .type(METRICS_TYPE)
        .serializer(String)
        .send(await sandboxOf(request).metrics()),
  )
}
