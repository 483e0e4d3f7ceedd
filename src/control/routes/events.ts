import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../domain/errors.ts'
import { controlOf, isFromOutside } from '../control-parts.ts'
import { InspectorPollSchema } from '../operation-schemas.ts'
import { control, Text } from '../schema-parts.ts'

const Query = Type.Object(
  {
    poll: Type.Optional(
      Type.String({
        pattern: '^1$',
        title: '1',
        description: '1: answer at once in JSON, for proxies that do not stream.',
        examples: ['1'],
      }),
    ),
    last_event_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Id of the last event that the caller has; the header Last-Event-ID goes before it.',
      }),
    ),
  },
  { additionalProperties: false },
)

const StreamSchema = control('EventStream', Text('Server-sent events: operations, headline, clock, faults, block …'))

/** What changes, as it changes. */
export async function eventRoutes(app: FastifyInstance): Promise<void> {
  const content = { 'text/event-stream': { schema: StreamSchema }, 'application/json': { schema: InspectorPollSchema } }
  app.get<{ Querystring: Static<typeof Query> }>(
    '/events',
    {
      schema: {
        tags: ['Control'],
        operationId: 'get_events',
        summary: 'What changes, as it changes: server-sent events',
        querystring: Query,
        response: { 200: { description: 'The events, or with poll=1 those since last_event_id.', content } },
      },
    },
    (request, reply) => {
      const { poll, last_event_id } = request.query
      const lastId = headerOf(request) ?? last_event_id
      const { overview, eventStreams } = controlOf(request)
      if (poll !== undefined) return overview.poll(lastId)
      if (request.method === 'HEAD') return reply.type(STREAM_TYPE).send()
      if (!isFromOutside(request)) {
        throw new Problem('validation_error', {
          detail: 'A call within the process cannot stream: send poll=1.',
          param: 'poll',
        })
      }
      beginStream(reply)
      eventStreams.open(reply.raw, lastId)
      return reply
    },
  )
}

const STREAM_TYPE = 'text/event-stream; charset=utf-8'

function headerOf({ headers }: FastifyRequest): string | undefined {
  const value = headers['last-event-id']
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Takes the response over from Fastify and writes its head. */
function beginStream(reply: FastifyReply): void {
  const headers = {
    ...reply.getHeaders(),
    'content-type': STREAM_TYPE,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  }
  reply.hijack()
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.raw.setHeader(name, value)
  reply.raw.writeHead(200)
}
