import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { ExchangeEnded } from '../domain/exchange.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { duringResponse } from './during-response.ts'
import { HttpExchange } from './exchange.ts'
import { handle, renderBy } from './handle.ts'
import { type PipelineDeps, type PipelineStep, type RequestContext, stepsOf } from './pipeline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Context of a request to the service, once it is opened. */
    context: RequestContext | null
  }
}

/** A request before its first step, and what to call after the last one, or with the error that gives the answer. */
interface Entering {
  steps: readonly PipelineStep[]
  context: RequestContext
  namespace: PipelineDeps
  done: (error?: Error) => void
}

/** The service under `/v1/`: all endpoints behind the pipeline. */
export function partnerApi(
  endpoints: readonly Endpoint[],
  settings: ServiceSettings,
  shared: boolean,
): FastifyPluginAsync {
  const steps = stepsOf(shared)
  const render = renderBy(settings)
  return async (app) => {
    app.decorateRequest('context', null)
    app.addHook('onSend', duringResponse)
    for (const endpoint of endpoints) {
      const { operation, user_token } = endpoint
      const target = { operation, user_token, render }
      app.route({
        config: { operation },
        method: endpoint.method,
        url: endpoint.url,
        schema: {
          ...(endpoint.params && { params: endpoint.params }),
          ...(endpoint.querystring && { querystring: endpoint.querystring }),
          ...(endpoint.body && { body: endpoint.body }),
        },
        onRequest: (request, reply, done) => {
          const { namespace } = request
          const exchange = new HttpExchange(request, reply, target)
          const context = { endpoint, generation: namespace.generation(), exchange, request, reply }
          request.exchange = exchange
          if (request.record && endpoint.operation !== 'create_end_user') {
            request.record.external_id = exchange.external_id ?? null
          }
          request.context = context
          // Step 3 of docs/a-deposit.md: the body is still unread, and the first step that throws gives the answer.
          // Not at once: the parser may still find that the body cannot be read, and one request gets one answer.
          Promise.resolve({ steps, context, namespace, done }).then(enter)
        },
        handler: (request) => {
          const context = contextOf(request)
          const answer = handle(context, request.namespace)
          if (answer instanceof Promise) context.exchange.work = answer
          return answer
        },
      })
    }
  }
}

/** Takes all steps; goes on at once if none of them has to wait. In a function of its own: closures for each request cost noticeable time. */
function enter({ steps, context, namespace, done }: Entering): void {
  let waiting: undefined | Promise<void>
  try {
    waiting = takeSteps(steps, context, namespace)
  } catch (error) {
    refuse(error, done)
    return
  }
  if (waiting) {
    waiting.then(
      () => goOn(context, done),
      (error: unknown) => refuse(error, done),
    )
  } else goOn(context, done)
}

function goOn({ exchange }: RequestContext, done: Entering['done']): void {
  if (!exchange.dropped) done()
}

function refuse(error: unknown, done: Entering['done']): void {
  if (!(error instanceof ExchangeEnded)) done(error as Error)
}

/** Takes one step after another, and waits only for those that wait: a promise for each costs noticeable time at tens of thousands a second. */
function takeSteps(
  steps: readonly PipelineStep[],
  context: RequestContext,
  deps: PipelineDeps,
): undefined | Promise<void> {
  for (let at = 0; at < steps.length; at++) {
    const waiting = steps[at]?.(context, deps)
    if (waiting) return waiting.then(() => takeSteps(steps.slice(at + 1), context, deps))
  }
  return undefined
}

function contextOf({ context }: FastifyRequest): RequestContext {
  if (!context) throw new Error('the request was not opened')
  return context
}
