import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { ApiResponse, ShownTotal } from '../domain/api-response.ts'
import type { Answer } from '../domain/exchange.ts'
import { jsonObject } from '../support/json.ts'
import { type HttpExchange, member, type Shown } from './exchange.ts'
import type { PipelineDeps } from './pipeline.ts'
import { keepUnreadBody } from './read-body.ts'
import { headersOf, noteAnswer, noteAnswered, noteDrop } from './record.ts'

/** Fastify's onSend hook: lets faults strike while the response to an exchange is written. */
export const duringResponse: onSendHookHandler = (request, reply, payload, done) => {
  // Step 18 of docs/a-deposit.md: the money has moved, whatever happens to this answer.
  const { exchange, namespace } = request
  if (exchange && !exchange.dropped && reply.statusCode >= 400) keepUnreadBody(request, reply.raw)
  // With a callback, as nearly all pass: a promise costs noticeable time at tens of thousands of requests a second.
  if (!exchange || passes(exchange, reply, namespace)) {
    if (request.record) {
      const isPlain = reply.statusCode === 200 && request.method === 'GET'
      noteAnswer(request, reply.statusCode, isPlain ? null : headersOf(reply), payload)
      noteAnswered(request)
    }
    noteWhenShown(request, reply)
    return done(null, payload)
  }
  struck(exchange, reply, payload, namespace).then((changed) => done(null, changed), done)
}

/** @returns true if the response goes out unchanged, because no fault concerns it or the client is gone */
function passes(exchange: HttpExchange, reply: FastifyReply, { faults, answered }: PipelineDeps): boolean {
  if (exchange.dropped || exchange.truncateAfter !== undefined) return false
  if (faults.concerns(exchange) && !exchange.lost) return false
  answered(exchange, reply.statusCode)
  return true
}

/** Returns the body for Fastify to send, changed or trickling. Never resolves if nothing is left to send. */
async function struck(
  exchange: HttpExchange,
  reply: FastifyReply,
  payload: unknown,
  { faults, service: { clock }, answered }: PipelineDeps,
): Promise<unknown> {
  if (exchange.dropped) return parked()
  exchange.answer = { status: reply.statusCode, headers: headersOf(reply), body: String(payload ?? '') }
  await faults.at('during_response', exchange)
  const { answer } = exchange
  const { request } = reply
  noteAnswer(request, answer.status, answer.headers, answer.body)
  if (exchange.dropped) return parked()
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  reply.code(answer.status).headers(answer.headers)
  reply.header('content-length', Buffer.byteLength(answer.body))
  if (exchange.truncateAfter !== undefined) {
    exchange.ending = 'truncated'
    noteDrop(request, 'truncated')
    return truncate(reply, answer, exchange.truncateAfter)
  }
  answered(exchange, answer.status)
  noteWhenShown(request, reply, answer.body)
  // An answer to HEAD has no body that could trickle.
  if (answer.trickle === undefined || request.method === 'HEAD') {
    noteAnswered(request)
    return answer.body
  }
  exchange.over.addEventListener('abort', () => noteAnswered(request), { once: true })
  const { bytesPerSecond, released } = answer.trickle
  const pause = (milliseconds: number) => clock.sleep(milliseconds, released, exchange.over)
  return Readable.from(trickle(answer.body, bytesPerSecond, pause))
}

/** Never resolves: the connection is gone, nothing is left to answer, and Fastify must not write either. */
export function parked(): Promise<never> {
  return new Promise(() => undefined)
}

function truncate(reply: FastifyReply, answer: Answer, bytes: number): Promise<never> {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  reply.raw.writeHead(answer.status)
  reply.raw.write(Buffer.from(answer.body).subarray(0, bytes), () => reply.raw.destroy())
  return parked()
}

/**
 * Sends ten pieces per second of sandbox time, so that a frozen clock holds the body up. When a pause is cut short (the fault was
 * removed, the clock reset, the client has gone) the rest goes out at once.
 */
async function* trickle(
  body: string,
  bytesPerSecond: number,
  pause: (milliseconds: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body)
  const size = Math.max(1, Math.ceil(bytesPerSecond / 10))
  for (let at = 0; at < bytes.length; at += size) {
    const paused = await pause((size / bytesPerSecond) * 1000).then(
      () => true,
      () => false,
    )
    if (!paused) return yield bytes.subarray(at)
    yield bytes.subarray(at, at + size)
  }
}

/** The worth that an operation's response shows, if it reaches the client: a list has it in `shows`, a transfer in its body. */
export function shownBy({ status, body, shows }: ApiResponse, again: boolean): Shown | undefined {
  if (shows) return { totals: shows, again, ofTransfer: false }
  const total_balance = member(body, 'total_balance')
  if (status >= 400 || total_balance === undefined) return undefined
  const portfolio_id = member(body, 'portfolio_id')
  const last_transaction_id = member(body, 'transaction_id')
  if (!portfolio_id || !last_transaction_id) return undefined
  return { totals: [{ portfolio_id, last_transaction_id, total_balance }], again, ofTransfer: true }
}

/**
 * Remembers the worth that an answer shows once its last byte was handed over on a living connection, and no earlier. `sent`: the body
 * that a fault may have changed. Assumption `withdraw-all`: an answer that was dropped, replaced, or requested by HEAD showed nothing.
 */
function noteWhenShown(request: FastifyRequest, reply: FastifyReply, sent?: string): void {
  const { exchange, namespace, context, id, method } = request
  const shown = exchange?.shows
  if (!shown || method === 'HEAD') return
  const totals = sent === undefined ? shown.totals : shown.totals.filter((total) => isIn(sent, total))
  if (totals.length === 0) return
  reply.raw.once('finish', () => {
    // Node also calls an answer finished whose client left before it was written.
    if (request.raw.socket.destroyed || context?.generation.aborted) return
    const showings = totals.map((total) => ({ ...total, request_id: id }))
    namespace.service.showings.note(showings, shown)
  })
}

function isIn(body: string, { portfolio_id, total_balance }: ShownTotal): boolean {
  const read = jsonObject(body)
  const items: unknown[] = Array.isArray(read?.data) ? read.data : [read]
  return items.some(
    (item) => member(item, 'portfolio_id') === portfolio_id && member(item, 'total_balance') === total_balance,
  )
}
