import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../domain/errors.ts'
import { type HttpExchange, member } from './exchange.ts'
import { onceOver } from './once-over.ts'
import { isIdempotencyKey, keyOf } from './pipeline.ts'
import { toProblem } from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that the request itself came to, for the log; null when it is none. */
    code: string | null
  }
}

/** Log levels at which requests are logged. */
const LEVELS = new Set(['info', 'debug', 'trace'])

/** Logs one line for every request, at level info. */
export function logRequests(app: FastifyInstance): void {
  app.decorateRequest('code', null)
  if (!LEVELS.has(app.log.level)) return
  app.addHook('onRequest', (request, reply, done) => {
    logWhenOver(request, reply)
    done()
  })
}

/**
 * Logs one line when all of a request is over: its connection, however that ended, and its work. Without the query and any
 * header but the Idempotency-Key: those may hold cursors and tokens.
 */
export function logWhenOver(request: FastifyRequest, reply: FastifyReply): void {
  onceOver(request.raw, reply.raw, () => {
    const ms = Math.round(reply.elapsedTime)
    const log = (failure?: Problem) => request.log.info({ ...fieldsOf(request, reply, failure), ms }, 'request')
    const { work } = request.exchange ?? {}
    if (work === undefined) return log()
    work.then(
      () => log(),
      (error: unknown) => log(toProblem(error)),
    )
  })
}

function fieldsOf(request: FastifyRequest, reply: FastifyReply, failure: Problem | undefined): object {
  const { method, url, id, exchange } = request
  const common = { method, path: url.split('?', 1)[0], ...answerOf(request, reply, failure) }
  const ended = exchange?.ending ?? (reply.raw.writableFinished ? 'answered' : 'connection lost')
  if (!exchange) return { ...common, ended, request_id: id }
  const { operation, tenant, struckBy } = exchange
  const key = keyOf(request)
  return {
    ...common,
    ended,
    operation,
    tenant,
    ...(key !== undefined && isIdempotencyKey(key) && { idempotency_key: key }),
    ...transactionOf(exchange),
    ...(struckBy && {
      fault: struckBy.id,
      fault_explanation: `${struckBy.kind} at ${struckBy.phase}: ${struckBy.explanation}`,
    }),
    request_id: id,
  }
}

/** What was answered; without an answer, what the work came to behind the client's back. */
function answerOf({ exchange, code }: FastifyRequest, { raw, statusCode }: FastifyReply, failure: Problem | undefined) {
  const outcome = exchange?.outcome
  if (raw.headersSent) {
    const told = exchange?.answer ? codeIn(exchange.answer.body) : (code ?? member(outcome?.body, 'code'))
    return { status: statusCode, ...(statusCode >= 400 && { code: told ?? undefined }) }
  }
  if (failure) return { status: failure.status, code: failure.code }
  return outcome && { status: outcome.status, code: member(outcome.body, 'code') }
}

/** The one this request has signed, or the one whose response it is given. */
function transactionOf({ transfer, outcome }: HttpExchange) {
  if (transfer?.signed) return { transaction_id: transfer.signed.id, tx_hash: transfer.signed.tx_hash }
  return { transaction_id: member(outcome?.body, 'transaction_id'), tx_hash: member(outcome?.body, 'tx_hash') }
}

/** The error code that a body says: the service's, or the identity provider's. */
export function codeIn(body: unknown): string | null {
  try {
    const read: unknown = JSON.parse(String(body))
    return member(read, 'code') ?? member(read, 'error') ?? null
  } catch {
    return null
  }
}
