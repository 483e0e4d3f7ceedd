import { headerOf } from '../../traffic/headers.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/** @returns true if the client got a successful answer */
export function succeeded({ end, response }: RecordedExchange): boolean {
  return end === 'answered' && response !== null && response.status < 300
}

/** @returns true if the client got this refusal */
export function refusedWith({ end, response }: RecordedExchange, code: string): boolean {
  return end === 'answered' && response?.code === code
}

/** @returns true if a fault of one of these kinds struck the exchange */
export function struckBy({ faults }: RecordedExchange, ...kinds: readonly string[]): boolean {
  return faults.some(({ kind }) => kinds.includes(kind))
}

/**
 * The client's knowledge of its request. `done`: it was answered with success. `unanswered`: the connection ended or the answer cannot be
 * read, so anything may have happened. `server_error`: 5xx, likewise. `not_now`: nothing was done, and it may be repeated (401, 429).
 * `refused`: nothing was done, and repeating changes nothing. `unknown`: it is still open, a reset of the sandbox ended it, or nobody
 * knows whether the client read the answer.
 */
export type Fate = 'done' | 'unanswered' | 'server_error' | 'not_now' | 'refused' | 'unknown'

const SERVER_ERRORS = new Set([500, 502, 503, 504])
const NOT_NOW = new Set([401, 408, 425, 429])

/** See {@link Fate}. */
export function fateOf({ end, unread, response, faults }: RecordedExchange): Fate {
  if (end === 'dropped' || end === 'abandoned') return 'unanswered'
  // A client that closes a TLS connection may reset it although it has read everything.
  if (end !== 'answered' || unread || response === null) return 'unknown'
  const { status, code } = response
  if (status < 300) return faults.some(({ kind }) => kind === 'malformed_body') ? 'unanswered' : 'done'
  if (SERVER_ERRORS.has(status)) return 'server_error'
  return NOT_NOW.has(status) || code === 'idempotency_key_in_progress' ? 'not_now' : 'refused'
}

/** @returns true if a client cannot know whether its request was carried out */
export function isUncertain(fate: Fate): boolean {
  return fate === 'unanswered' || fate === 'server_error'
}

/** Begin of the exchange, at its first header: milliseconds since the Unix epoch, real time. */
export function beganAt({ began }: RecordedExchange): number {
  return Date.parse(began.wall)
}

/** End of the exchange: milliseconds since the Unix epoch, real time. Infinity while it is open. */
export function endedAt({ ended }: RecordedExchange): number {
  return ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended.wall)
}

/** Milliseconds to wait after the answer's end by its Retry-After; null for none. */
export function retryAfterOf(exchange: RecordedExchange): number | null {
  const { response, ended } = exchange
  const value = headerOf(response?.headers ?? [], 'retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  if (Number.isNaN(date) || ended === null) return null
  return Math.max(0, date - endedAt(exchange))
}
