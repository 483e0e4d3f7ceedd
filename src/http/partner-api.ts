import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { ExchangeEnded } from '../domain/exchange.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { duringResponse, parked } from './during-response.ts'
import { HttpExchange } from './exchange.ts'
import { handle, renderFor } from './handle.ts'
import { type RequestContext, stepsOf } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of a request to the service, once it is opened. */
    context: RequestContext | null
  }
}

/** The service under `/v1/`: all endpoints behind the pipeline. */
export function partnerApi(
  endpoints: readonly Endpoint[],
  settings: ServiceSettings,
  shared: boolean,
): FastifyPluginAsync {
  const steps = stepsOf(shared)
  return async (app) => {
    app.decorateRequest('context', null)
    app.addHook('onSend', duringResponse)
    for (const endpoint of endpoints) {
      const { operation, user_token } = endpoint
      app.route({
        config: { operation },
        method: endpoint.method,
        url: endpoint.url,
        schema: {
          ...(endpoint.params && { params: endpoint.params }),
          ...(endpoint.querystring && { querystring: endpoint.querystring }),
          ...(endpoint.body && { body: endpoint.body }),
        },
        onRequest: async (request, reply) => {
          const { namespace } = request
          const render = renderFor(request, settings)
          const exchange = new HttpExchange(request, reply, { operation, user_token, render })
          const context = { endpoint, generation: namespace.generation(), exchange, request, reply }
          request.exchange = exchange
          if (request.record && endpoint.operation !== 'create_end_user') {
            request.record.external_id = exchange.external_id ?? null
          }
          request.context = context
          try {
            // Step 3 of docs/a-deposit.md: the body is still unread, and the first step that throws gives the answer.
            for (const step of steps) {
              const done = step(context, namespace)
              if (done) await done // awaiting every step costs noticeable time at tens of thousands a second
            }
          } catch (error) {
            if (error instanceof ExchangeEnded) return parked()
            throw error
          }
          if (exchange.dropped) return parked()
        },
        handler: (request) => {
          const context = contextOf(request)
          context.exchange.work = handle(context, request.namespace)
          return context.exchange.work
        },
      })
    }
  }
}

function contextOf({ context }: FastifyRequest): RequestContext {
  if (!context) throw new Error('the request was not opened')
  return context
}
