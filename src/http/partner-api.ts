import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ExchangeEnded } from '../domain/exchange.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { HttpExchange } from './exchange.ts'
import { handle } from './handle.ts'
import { type Passage, type PipelineParts, steps } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A request to the service, once it is opened. A member, since a weak map of them costs a third of a request. */
    passage: Passage | null
  }
}

/** The service under `/v1/`: every endpoint behind the pipeline. */
export function partnerApi(endpoints: readonly Endpoint[], parts: PipelineParts): FastifyPluginAsync {
  return async (app) => {
    app.decorateRequest('passage', null)
    app.addHook('onSend', async (request, reply, payload) => {
      const { passage } = request
      return passage ? duringResponse(passage, reply, payload, parts) : payload
    })
    for (const endpoint of endpoints) {
      app.route({
        method: endpoint.method,
        url: endpoint.url,
        schema: {
          ...(endpoint.params && { params: endpoint.params }),
          ...(endpoint.querystring && { querystring: endpoint.querystring }),
          ...(endpoint.body && { body: endpoint.body }),
        },
        onRequest: async (request, reply) => {
          const exchange = new HttpExchange(request, reply, endpoint)
          const passage = { endpoint, exchange, request, reply }
          request.passage = passage
          try {
            for (const step of steps) await step(passage, parts)
          } catch (error) {
            if (error instanceof ExchangeEnded) return parked()
            throw error
          }
        },
        handler: (request) => handle(passageOf(request), parts),
      })
    }
  }
}

/** Faults that strike while the response is written; the body goes out in the end, whole or cut. */
async function duringResponse(passage: Passage, reply: FastifyReply, payload: unknown, { faults }: PipelineParts) {
  const { exchange } = passage
  if (!faults.idle) await faults.at('during_response', exchange)
  if (exchange.dropped) return parked()
  if (exchange.truncateAfter === undefined) return payload
  const body = Buffer.from(String(payload))
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.raw.setHeader('content-length', body.length)
  reply.raw.writeHead(reply.statusCode)
  reply.raw.write(body.subarray(0, exchange.truncateAfter), () => reply.raw.destroy())
  return parked()
}

/** The connection is gone and nothing is left to answer: Fastify must not write either. */
function parked(): Promise<never> {
  return new Promise(() => undefined)
}

function passageOf({ passage }: FastifyRequest): Passage {
  if (!passage) throw new Error('the request was not opened')
  return passage
}
