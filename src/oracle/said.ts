import type { RecordedExchange } from '../traffic/recorded-exchange.ts'

/**
 * What one answer tells a client of its operation. `done`: it was carried out. `refused`: the operation's own outcome, and nothing moved.
 * `put_off`: nothing was done by this attempt; of earlier ones it says nothing. `false`: a fault put a refusal in the place of another
 * outcome. `nothing`: no answer, or one from which nothing follows.
 */
export type Said = 'done' | 'refused' | 'put_off' | 'false' | 'nothing'

/** A refusal that says nothing of the operation: it may go on, or have been carried out. */
const IN_PROGRESS = 'idempotency_key_in_progress'
const MISMATCH = 'idempotency_key_in_use_with_different_params'
/** Statuses by which an attempt is put off, whoever looked at its key. */
const PUT_OFF = new Set([401, 403, 425, 429])
/** Phases in which the operation has come to an outcome, or is bound to. */
const CARRIED_OUT: readonly string[] = ['after_broadcast', 'after_confirmation', 'during_response']

/** See {@link Said}. Only what was handed over counts, and only if the client did not reset the connection on it. */
export function saidBy(exchange: RecordedExchange): Said {
  const { response, idempotency, faults } = exchange
  if (!isHandedOver(exchange) || response === null) return 'nothing'
  const { status, code } = response
  if (status >= 500 || status === 408 || code === IN_PROGRESS) return 'nothing'
  if (status < 300) return 'done'
  const replaced = faults.some(({ kind, phase }) => kind === 'error' && CARRIED_OUT.includes(phase))
  if (replaced && exchange.refusal?.check === 'fault') return 'false'
  if (PUT_OFF.has(status)) return 'put_off'
  if (isMismatch(exchange)) return 'refused'
  return idempotency === null || idempotency.use === 'unused' ? 'put_off' : 'refused'
}

/** @returns true if the client had all of an answer, in a form that can be read */
export function isHandedOver({ end, unread, faults }: RecordedExchange): boolean {
  return end === 'answered' && !unread && !faults.some(({ kind }) => kind === 'malformed_body')
}

/** @returns true if a request was refused because its key was in use with another body: it is no attempt of the operation of that key */
export function isMismatch({ refusal }: Pick<RecordedExchange, 'refusal'>): boolean {
  return refusal?.code === MISMATCH
}
