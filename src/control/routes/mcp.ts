import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { Problem } from '../../domain/errors.ts'
import type { ControlDeps } from '../control-parts.ts'

const McpMessage = named(
  'McpMessage',
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'A JSON-RPC 2.0 request or notification.',
      examples: [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
      ...from('sandbox-routes'),
    },
  ),
)
const McpAnswer = named(
  'McpAnswer',
  Type.Object({}, { additionalProperties: true, description: 'The JSON-RPC 2.0 response.', ...from('sandbox-routes') }),
)

/**
 * The Model Context Protocol over HTTP (transport "Streamable HTTP"): each message is a request of its own, answered with JSON. There is no
 * session, and no stream of the server's, which GET would open: it is answered 405.
 */
export async function mcpRoutes(app: FastifyInstance, { version, sandboxOf }: ControlDeps): Promise<void> {
  app.get('/mcp', { schema: { hide: true } }, refuseStream)
  app.post<{ Params: { namespace?: string } }>(
    '/mcp',
    {
      schema: {
        tags: ['Control'],
        operationId: 'mcp',
        summary: 'Tools for coding agents: a message of the Model Context Protocol',
        body: McpMessage,
        response: {
          200: McpAnswer,
          202: { type: 'null', description: 'A notification was taken.' },
        },
      },
    },
    // Loaded at the first message: most runs never need it.
    async (request, reply) => {
      const [{ McpServer }, { mcpTools }, client] = await Promise.all([
        import('../mcp/mcp-server.ts'),
        import('../mcp/mcp-tools.ts'),
        sandboxOf(request).clientOf(request.params.namespace, request),
      ])
      const server = new McpServer(mcpTools(client), version)
      const answer = await server.answerParsed(request.body)
      return answer === undefined ? reply.code(202).send() : reply.send(answer)
    },
  )
}

/** Clients ask whether the server has a stream of its own, and take 405 for no. */
async function refuseStream(): Promise<never> {
  const detail = 'GET is not allowed here; what is: POST. This server sends nothing by itself.'
  throw new Problem('method_not_allowed', { detail, param: 'method', headers: { allow: 'POST' } })
}
