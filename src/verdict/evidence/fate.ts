import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'

/**
 * What a client knows of its request. `done`: it was answered with success. `unanswered`: the connection ended or the answer cannot be
 * read, so anything may have happened. `server_error`: 5xx, likewise. `not_now`: nothing was done, and it may be repeated (401, 429).
 * `refused`: nothing was done, and repeating changes nothing. `unknown`: it is still open, a reset of the sandbox ended it, or nobody
 * knows whether its client read the answer.
 */
export type Fate = 'done' | 'unanswered' | 'server_error' | 'not_now' | 'refused' | 'unknown'

const SERVER_ERRORS = new Set([500, 502, 503, 504])
const NOT_NOW = new Set([401, 408, 425, 429])

/** See {@link Fate}. */
export function fateOf({ end, unread, response, faults }: RecordedExchange): Fate {
  if (end === 'dropped' || end === 'abandoned') return 'unanswered'
  // A client that closes a connection over TLS may reset it though it has read everything.
  if (end !== 'answered' || unread || response === null) return 'unknown'
  const { status, code } = response
  if (status < 300) return faults.some(({ kind }) => kind === 'malformed_body') ? 'unanswered' : 'done'
  if (SERVER_ERRORS.has(status)) return 'server_error'
  return NOT_NOW.has(status) || code === 'idempotency_key_in_progress' ? 'not_now' : 'refused'
}

/** @returns true if a client cannot know whether its request was carried out. */
export function isUncertain(fate: Fate): boolean {
  return fate === 'unanswered' || fate === 'server_error'
}
