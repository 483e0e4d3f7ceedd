import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { SandboxClock } from '../domain/clock.ts'
import type { Answer } from '../domain/exchange.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { HttpExchange } from './exchange.ts'

/**
 * Lets faults strike while the response is written. Returns what Fastify is to send: the body, changed or trickling;
 * never resolves when nothing is left to send.
 */
export async function duringResponse(
  exchange: HttpExchange,
  reply: FastifyReply,
  payload: unknown,
  { faults, clock }: { faults: FaultEngine; clock: SandboxClock },
): Promise<unknown> {
  if (!faults.concerns(exchange) && exchange.truncateAfter === undefined) return exchange.dropped ? parked() : payload
  const answer: Answer = { status: reply.statusCode, headers: headersOf(reply), body: String(payload ?? '') }
  exchange.answer = answer
  await faults.at('during_response', exchange)
  if (exchange.dropped) return parked()
  reply.code(answer.status).headers(answer.headers)
  reply.header('content-length', Buffer.byteLength(answer.body))
  if (exchange.truncateAfter !== undefined) return truncate(reply, answer, exchange.truncateAfter)
  if (answer.bytesPerSecond === undefined) return answer.body
  return Readable.from(trickle(answer.body, answer.bytesPerSecond, clock))
}

/** The connection is gone and nothing is left to answer: Fastify must not write either. */
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

/** Ten pieces a second of sandbox time, so that a frozen clock holds the body up. */
async function* trickle(body: string, bytesPerSecond: number, clock: SandboxClock): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body)
  const size = Math.max(1, Math.ceil(bytesPerSecond / 10))
  for (let at = 0; at < bytes.length; at += size) {
    await clock.sleep((size / bytesPerSecond) * 1000)
    yield bytes.subarray(at, at + size)
  }
}

function headersOf(reply: FastifyReply): Record<string, string> {
  const set = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]))
}
