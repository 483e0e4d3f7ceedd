import { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../domain/errors.ts'
import { keyInLog } from '../domain/idempotency-key.ts'
import { DEFAULT_NAMESPACE, NAMESPACE_NAME } from '../domain/namespace-name.ts'
import type { Service } from '../domain/service.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { jsonObject } from '../support/json.ts'
import { type HttpExchange, member, onceOver } from './exchange.ts'
import { sentIdempotencyKey } from './pipeline.ts'
import { toProblem } from './problem.ts'
import { isBeside } from './record.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Code of the request's error, for the log; null if it has none. */
    code: string | null
  }
}

/** Log levels at which requests are logged. */
const LEVELS = new Set(['info', 'debug', 'trace'])

/** Logs one line for every request, at level info. */
export function logRequests(app: FastifyInstance, service: Pick<Service, 'clock' | 'settings'>): void {
  app.decorateRequest('code', null)
  if (!LEVELS.has(app.log.level)) return
  app.addHook('onRequest', (request, reply, done) => {
    // A request of this process to its own sandbox came over no connection: that is a call, not a request.
    if (request.raw instanceof IncomingMessage) logWhenOver(request, reply, service)
    done()
  })
}

/**
 * Logs one line when a request is entirely over: its connection, however that ended, and its work. It leaves out the query and all
 * headers but the Idempotency-Key, which {@link keyInLog} names, since those may hold cursors and tokens.
 */
export function logWhenOver(
  request: FastifyRequest,
  reply: FastifyReply,
  service: Pick<Service, 'clock' | 'settings'>,
): void {
  const { clock, settings } = service
  const begun = clock.wallNow()
  onceOver(request.raw, reply.raw, () => {
    const ms = clock.wallNow() - begun
    const log = (failure?: Problem) =>
      request.log[levelOf(request, reply)]({ ...fieldsOf(request, reply, settings, failure), ms }, 'request')
    const { work } = request.exchange ?? {}
    if (work === undefined) return log()
    work.then(
      () => log(),
      (error: unknown) => log(toProblem(error)),
    )
  })
}

/** Orchestrators ask for health and readiness every few seconds; good answers are logged at level debug only. */
const PROBES = new Set(['/_sandbox/health', '/_sandbox/ready'])

function levelOf({ routeOptions }: FastifyRequest, { statusCode }: FastifyReply): 'info' | 'debug' {
  return statusCode < 300 && PROBES.has(routeOptions.url ?? '') ? 'debug' : 'info'
}

/** Fields of the line; undefined ones do not appear. */
function fieldsOf(request: FastifyRequest, reply: FastifyReply, settings: ServiceSettings, failure?: Problem): object {
  const { method, url, id, exchange, namespace } = request
  const answer = answerOf(request, reply, failure)
  const transaction = exchange && transactionOf(exchange)
  const key = exchange ? sentIdempotencyKey(request) : undefined
  const struckBy = exchange?.struckBy
  const { redactor } = namespace.exchanges
  return {
    method,
    path: redactor.path(url.split('?', 1)[0] ?? '', !request.is404),
    status: answer?.status,
    code: answer?.code,
    ended: exchange?.ending ?? (isAnswered(request, reply) ? 'answered' : 'connection lost'),
    namespace: namespaceIn(request),
    operation: exchange?.operation,
    tenant: exchange?.tenant,
    idempotency_key: key === undefined ? undefined : keyInLog(key, settings.idempotency_key_format),
    transaction_id: transaction?.id,
    tx_hash: transaction?.tx_hash,
    fault: struckBy?.id,
    fault_explanation: struckBy && redactor.text(`${struckBy.kind} at ${struckBy.phase}: ${struckBy.explanation}`),
    request_id: id,
  }
}

const NAME = new RegExp(NAMESPACE_NAME)

/** Name of the namespace that a request is about; undefined for one about the sandbox as a whole, or its pages. */
export function namespaceIn({ url, params, control, routeOptions, namespace }: FastifyRequest): string | undefined {
  const named = member(params, 'namespace')
  if (named !== undefined) return NAME.test(named) ? named : undefined
  if (control || routeOptions.url?.startsWith('/rpc/')) return DEFAULT_NAMESPACE
  return routeOptions.config?.operation === undefined && isBeside(url) ? undefined : namespace.name
}

/** The answer; without one, the result of the work that the client never got. */
function answerOf(
  { exchange, code }: FastifyRequest,
  { raw, statusCode }: FastifyReply,
  failure: Problem | undefined,
): { status: number; code: string | undefined } | undefined {
  const outcome = exchange?.outcome
  if (raw.headersSent) {
    if (statusCode < 400) return { status: statusCode, code: undefined }
    const told = exchange?.answer ? codeIn(exchange.answer.body) : (code ?? member(outcome?.body, 'code'))
    return { status: statusCode, code: told ?? undefined }
  }
  if (failure) return failure
  return outcome && { status: outcome.status, code: member(outcome.body, 'code') }
}

/** The transaction that this request has signed, or that its response names. */
function transactionOf({ transfer, outcome }: HttpExchange) {
  if (transfer?.signed) return transfer.signed
  return { id: member(outcome?.body, 'transaction_id'), tx_hash: member(outcome?.body, 'tx_hash') }
}

/** The error code in a body: the service's, or the identity provider's. */
export function codeIn(body: unknown): string | null {
  const read = jsonObject(String(body))
  return member(read, 'code') ?? member(read, 'error') ?? null
}

/** Node also calls an answer finished whose client left before it was written. */
function isAnswered({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): boolean {
  return raw.writableFinished && !socket.destroyed
}
