import { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import type { TransferStep, TransferUnderWay } from '../domain/transfers.ts'
import type { LiveExchange } from '../traffic/live-exchange.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import { refusalOf } from '../traffic/refusal-of.ts'
import { Connection, endOnClose } from './connection.ts'
import { routed } from './routing.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** The request's record; null if none is kept. */
    record: LiveExchange | null
  }
}

/** Paths beside the service, such as the sandbox's own pages; records of a client leave them out. */
const BESIDE = /^\/(_sandbox|rpc|inspector|docs|openapi\.json|favicon\.ico)([/?]|$)|^\/(\?|$)|\/\.well-known\//

/** @returns true for the service, the token endpoint, and paths that nothing serves (a client's mistake) */
export function isRecorded(url: string, servicePath: string): boolean {
  return url.startsWith(servicePath) || !isBeside(url)
}

/** @returns true for the sandbox's own pages, the chains, and documents that are the same for all namespaces */
export function isBeside(url: string): boolean {
  return BESIDE.test(routed(url))
}

/** Begins the record of a request that has entered its namespace. `arrived`: its time of arrival, if that was earlier. */
export function openRecord(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, arrived }: { operation: Operation | null; arrived?: number | undefined },
): void {
  const { raw, id, namespace } = request
  // A request of this process to its own sandbox came over no connection.
  if (!(raw instanceof IncomingMessage)) return
  const log = namespace.exchanges
  const connection = Connection.of(raw.socket)
  const live = log.open(
    {
      request_id: id,
      method: raw.method ?? '',
      url: raw.url ?? '',
      headers: raw.rawHeaders,
      connection: connection.ordinalIn(log),
      operation,
    },
    arrived,
  )
  connection.enter = undefined
  connection.began(live, reply.raw)
  request.record = live
}

/** Notes the body of a request, as it was read. */
export function noteBody({ record, namespace }: FastifyRequest, text: string, bytes: number): void {
  if (record) namespace.exchanges.takeBody(record, text, bytes)
}

/** Notes the part of a body that has arrived before parsing. `whole`: true if it is the entire body. */
export function noteBeginningOfBody({ record, namespace }: FastifyRequest, bytes: Buffer, whole: boolean): void {
  const text = bytes.length > 0 ? bytes.toString() : null
  if (record) namespace.exchanges.takeBody(record, text, bytes.length, whole)
}

/** Notes the answer, sent or intended. The first call counts. */
export function noteAnswer(
  request: FastifyRequest,
  status: number,
  headers: LiveExchange['answerHeaders'],
  body: unknown,
): void {
  const { record, exchange, namespace } = request
  if (!record || (status >= 400 && isCutShort(request))) return
  if (exchange?.verifiedTenant) record.tenant = exchange.verifiedTenant.slug
  namespace.exchanges.takeAnswer(record, status, headers, body)
}

/** Notes that the answer is handed over now. */
export function noteAnswered({ record, raw, namespace }: FastifyRequest): void {
  if (record) namespace.exchanges.end(record, raw.socket.destroyed ? endOnClose(raw.socket) : 'answered')
}

/** Notes that a fault ends the connection; if the client ended it first, the exchange counts as abandoned. */
export function noteDrop({ record, raw, namespace }: FastifyRequest, how: RecordedExchange['dropped']): void {
  if (record?.end !== 'open') return
  const left = raw.socket.destroyed
  if (!left && !record.cutOff) record.dropped = how
  namespace.exchanges.end(record, left ? endOnClose(raw.socket) : 'dropped')
}

/** Notes the reason why a request is refused. The first call counts. */
export function noteRefusal(request: FastifyRequest, problem: Problem): void {
  if (request.record && !isCutShort(request)) request.record.refusal ??= refusalOf(problem)
}

/** @returns true if the client left before the whole request had arrived: the resulting refusal is of no interest */
function isCutShort({ raw }: FastifyRequest): boolean {
  return !raw.complete && raw.socket.destroyed
}

/** Notes the progress of a request's transfer. */
export function noteTransfer({ record, namespace }: FastifyRequest, { signed, shown_by }: TransferUnderWay): void {
  if (!record) return
  record.transferring = true
  if (!signed) return
  record.transaction_id = signed.id
  record.tx_hash = signed.tx_hash
  record.shown_by = shown_by ?? null
  namespace.exchanges.watcher?.changed(record.number)
}

/** Notes a step of the request's transfer, now; `number`: its nonce or its block. */
export function noteStep({ record, namespace }: FastifyRequest, step: TransferStep, number?: number): void {
  if (record) namespace.exchanges.takeStep(record, step, number)
}

/** Notes the use that a request makes of its Idempotency-Key. */
export function noteKeyUse(request: FastifyRequest, use: Exclude<LiveExchange['keyUse'], 'unused'>): void {
  const { record } = request
  if (!record) return
  record.keyUse = use
  if (use === 'first' && (record.operation === 'deposit' || record.operation === 'withdraw'))
    noteStep(request, 'claimed')
}

/** The headers of an answer that is about to be written. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  const set = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]))
}
