import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiResponse } from '../domain/api-response.ts'
import type { Problem } from '../domain/errors.ts'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Claim } from '../domain/records.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { EndpointRequest } from '../partner-api/endpoint.ts'
import { shownBy } from './during-response.ts'
import { type PipelineDeps, type RequestContext, ready, sentIdempotencyKey } from './pipeline.ts'
import { problemType, renderProblem, toProblem } from './problem.ts'
import { keepUnreadBody } from './read-body.ts'
import { headersOf, noteAnswer, noteAnswered, noteKeyUse, noteRefusal, noteStep, noteTransfer } from './record.ts'
import { namespaceIn } from './request-log.ts'

/**
 * Claims the Idempotency-Key if there is one, runs the handler, settles the key, and returns the response's body for Fastify: at once if
 * the endpoint answers at once. Throws any error, unless a fault has ended the connection or answered already: then nobody would get it.
 */
export function handle(context: RequestContext, deps: PipelineDeps): unknown {
  try {
    const answer = run(context, deps)
    return answer instanceof Promise ? answer.catch((error: unknown) => refuse(error, context, deps)) : answer
  } catch (error) {
    return refuse(error, context, deps)
  }
}

function refuse(error: unknown, { exchange, request }: RequestContext, { service }: PipelineDeps): void {
  if (!exchange.dropped) throw error
  const outcome = renderProblem(noted(error, request), origin(request), service.settings)
  exchange.outcome = outcome
  noteAnswer(request, outcome.status, outcome.headers ?? {}, outcome.body)
}

function run(context: RequestContext, deps: PipelineDeps): unknown {
  const { request, reply, endpoint, exchange } = context
  const { service } = deps
  ready(context, deps) // the body may have arrived slowly
  const tenant = exchange.requireTenant()
  const operation = (claim?: Claim): ApiResponse | Promise<ApiResponse> => {
    const { params, query, body } = request
    const onPhase: EndpointRequest['onPhase'] = (phase, transfer) => {
      exchange.transfer = transfer
      noteTransfer(request, transfer)
      return deps.faults.at(phase, exchange, transfer)
    }
    const onStep: EndpointRequest['onStep'] = (step, number) => noteStep(request, step, number)
    return endpoint.handle({ tenant, params, query, body, onPhase, onStep, ...(claim && { claim }) }, service)
  }
  const key = endpoint.idempotency === 'none' ? undefined : sentIdempotencyKey(request)
  if (key === undefined) {
    if (endpoint.idempotency !== 'none') deps.quota?.admitWrite()
    const response = operation()
    return response instanceof Promise
      ? response.then((made) => write(context, made, deps))
      : write(context, response, deps)
  }
  // Step 5 of docs/a-deposit.md: a repetition gets the kept response or joins the running request; `operation` does not begin for it.
  const running = service.idempotency.run({
    scope: { tenant_id: tenant.tenant_id, operation: endpoint.operation, external_id: exchange.external_id ?? '', key },
    body: request.body,
    origin: origin(request),
    operation: async (claim) => operation(claim),
    admit: () => deps.quota?.admitWrite(),
    onUse: (use) => noteKeyUse(request, use),
    onKeptProblem: (problem) => noteRefusal(request, problem),
  })
  return running.then(({ response, replayed }) => {
    if (!exchange.dropped) reply.header('Idempotency-Key-Replay', String(replayed))
    return write(context, response, deps, replayed)
  })
}

/** Writes any error in the catalogue's words. */
export function writeError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  settings: ServiceSettings,
): void {
  if (reply.sent) return // by a fault
  const { status, body, headers } = renderProblem(noted(error, request), origin(request), settings)
  reply
    .code(status)
    .headers(headers ?? {})
    .type(problemType(settings))
  // An exchange is noted later, after faults have had their turn.
  if (!request.exchange) {
    noteAnswer(request, status, headersOf(reply), body)
    noteAnswered(request)
    keepUnreadBody(request, reply.raw)
  }
  void reply.send(body)
}

/** Converts an error to the catalogue's, and logs it if the sandbox itself has failed. */
function noted(error: unknown, request: FastifyRequest): Problem {
  const problem = toProblem(error)
  request.code = problem.code
  if (request.exchange?.transfer) noteTransfer(request, request.exchange.transfer)
  noteRefusal(request, problem)
  if (isFailure(problem))
    request.log.error({ err: problem.cause, namespace: namespaceIn(request), request_id: request.id }, problem.code)
  return problem
}

/**
 * @returns true if the sandbox itself has failed. Errors requested by a fault or due to a reset do not count; an outage of a chain is
 * logged where it is noticed.
 */
function isFailure({ status, cause }: Problem): boolean {
  return status >= 500 && cause !== undefined && !(cause instanceof ChainUnavailableError) && !isLeaving(cause)
}

/** @returns true if the error only means that the client left before the first byte of an answer that trickles */
function isLeaving(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

/** Returns the body for Fastify to send; if it returned the reply, Fastify would wait until the client has all of it. */
function write(
  { exchange, request, reply }: RequestContext,
  response: ApiResponse,
  { service }: PipelineDeps,
  replayed = false,
): unknown {
  exchange.outcome = response
  exchange.shows = shownBy(response, replayed)
  if (exchange.transfer) noteTransfer(request, exchange.transfer)
  if (exchange.dropped) {
    noteAnswer(request, response.status, response.headers ?? {}, response.text ?? response.body)
    return undefined
  }
  reply.code(response.status)
  if (response.headers) reply.headers(response.headers)
  reply.type(response.status < 400 ? 'application/json; charset=utf-8' : problemType(service.settings))
  if (response.text === undefined) return response.body
  // Without a serializer Fastify would look for a charset in the type, which has one.
  reply.serializer(asItIs)
  return response.text
}

const asItIs = (text: unknown) => text as string

/** Renders the errors of requests as responses. */
export function renderBy(settings: ServiceSettings) {
  const type = problemType(settings)
  return (problem: Problem, request: FastifyRequest) => ({ ...renderProblem(problem, origin(request), settings), type })
}

function origin(request: FastifyRequest) {
  return { request_id: request.id, instance: request.url.split('?', 1)[0] ?? request.url }
}
