import { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import type { LiveExchange } from '../traffic/live-exchange.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import { refusalOf } from '../traffic/refusal-of.ts'
import { Connection } from './connection.ts'
import { routed } from './routing.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route is a way to. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** The record of it; null when none is kept. */
    record: LiveExchange | null
  }
}

/** What is beside the service, and of no interest to whoever looks at a client. The sandbox's own pages among it. */
const BESIDE = /^\/(_sandbox|rpc|docs|openapi\.json|favicon\.ico)([/?]|$)|^\/(\?|$)|\/\.well-known\//

/** Whether what is asked for is the service, the token endpoint, or a path that nobody serves: a client's mistake. */
export function isRecorded(url: string, servicePath: string): boolean {
  return url.startsWith(servicePath) || !BESIDE.test(routed(url))
}

/** Begins the record of a request that has entered its namespace. `arrived`: when, if that was earlier. */
export function openRecord(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, arrived }: { operation: Operation | null; arrived?: number | undefined },
): void {
  const { raw, id, namespace } = request
  // What this process asks its own sandbox came over no connection.
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

/** Notes what has come of the body of a request, which is not parsed yet. `whole`: whether that is all of it. */
export function noteBeginningOfBody({ record, namespace }: FastifyRequest, bytes: Buffer, whole: boolean): void {
  const text = bytes.length > 0 ? bytes.toString() : null
  if (record) namespace.exchanges.takeBody(record, text, bytes.length, whole)
}

/** Notes what is answered, or would be. The first that is told counts. */
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

/** Notes that the answer is handed over, now. */
export function noteAnswered({ record, raw, namespace }: FastifyRequest): void {
  if (record) namespace.exchanges.end(record, raw.socket.destroyed ? 'abandoned' : 'answered')
}

/** Notes that a fault ends the connection; one that the client has ended already was abandoned. */
export function noteDrop({ record, raw, namespace }: FastifyRequest, how: RecordedExchange['dropped']): void {
  if (record?.end !== 'open') return
  const left = raw.socket.destroyed
  if (!left && !record.cutOff) record.dropped = how
  namespace.exchanges.end(record, left ? 'abandoned' : 'dropped')
}

/** Notes why a request is refused. The first that is told counts. */
export function noteRefusal(request: FastifyRequest, problem: Problem): void {
  if (request.record && !isCutShort(request)) request.record.refusal ??= refusalOf(problem)
}

/** Whether the client left before all of the request was there: what that makes of it concerns nobody. */
function isCutShort({ raw }: FastifyRequest): boolean {
  return !raw.complete && raw.socket.destroyed
}

/** Notes how far the transfer of a request is. */
export function noteTransfer({ record }: FastifyRequest, { signed, shown_by }: TransferUnderWay): void {
  if (!record) return
  record.transferring = true
  if (!signed) return
  record.transaction_id = signed.id
  record.tx_hash = signed.tx_hash
  record.shown_by = shown_by ?? null
}

/** The headers of an answer that is about to be written. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  const set = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]))
}
