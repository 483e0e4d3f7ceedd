import type { FastifyInstance } from 'fastify'
import { controlOf } from '../control-parts.ts'
import { control, Text } from '../schema-parts.ts'

const SnapshotSchema = control('Snapshot', Text('The state as text: save it as it is.'))

/** The state of a namespace as one file. */
export async function snapshotRoutes(app: FastifyInstance): Promise<void> {
  const response = {
    200: { description: 'The state of the namespace.', content: { 'text/plain': { schema: SnapshotSchema } } },
  }
  app.post(
    '/snapshot',
    {
      schema: {
        tags: ['Control'],
        operationId: 'create_snapshot',
        summary: 'The state as a file, without secrets: ledger, chains, clock',
        response,
      },
      config: { errors: ['chain_unavailable', 'service_unavailable', 'sandbox_starting'] },
    },
    async (request, reply) => {
      const text = await controlOf(request).snapshot()
      return reply.type('text/plain; charset=us-ascii').send(text)
    },
  )
}
