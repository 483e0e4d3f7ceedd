import type { Check } from '../domain/check.ts'
import type { StruckBy } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { TransferStep } from '../domain/transfers.ts'

export type { Check }

/** One moment on both clocks, ISO 8601 UTC with milliseconds. */
export interface Moment {
  /** Real time, by which the client's own timers and tokens run. */
  wall: string
  /** Business time: the sandbox clock, which tests move. */
  clock: string
}

/** The values of {@link ExchangeEnd}. */
export const EXCHANGE_ENDS = ['open', 'answered', 'dropped', 'abandoned', 'cut_off'] as const

/**
 * How an exchange ended. `answered`: the whole answer was handed over. `dropped`: a fault ended the connection. `abandoned`: the
 * client left before it was answered. `cut_off`: a reset ended it, or the end of the sandbox, or of the process of a fleet that passed it
 * on. `open`: it has not ended yet.
 */
export type ExchangeEnd = (typeof EXCHANGE_ENDS)[number]

/** Reason for the refusal of a request. */
export interface Refusal {
  check: Check
  /** An error code of the catalogue, or of RFC 6749 §5.2. */
  code: string
  /** The parameter, header, claim or form field at fault: `kid`, `iss`, `aud`, `exp`, `signature`, `client_secret`, `amount_minor`. */
  aspect: string | null
  /** The right value in words; null if there is no single one. */
  expected: string | null
  came: string | null
  /** The sentence in the answer, or in the one that would have been sent. */
  detail: string
}

/** A JSON Web Token without its signature. */
export interface ShownToken {
  /** The same for the same token; reveals nothing else. */
  fingerprint: string
  /** Null when the token is not a JWT. */
  header: Record<string, unknown> | null
  claims: Record<string, unknown> | null
}

/** The request as sent, without secrets and signatures. */
export interface RecordedRequest {
  method: string
  /** Path without the query. */
  path: string
  /** In the order sent, decoded. */
  query: [name: string, value: string][]
  /** In the order sent; names as sent. */
  headers: [name: string, value: string][]
  /** Null when there was none, or none was read. */
  body: string | null
  /** Bytes that have come, including those not kept. */
  body_bytes: number
  /** True if only the beginning of the body was kept, or came; that may be nothing. */
  body_cut: boolean
  /** Token of `Authorization: Bearer`. */
  idp_token: ShownToken | null
  /** Token of `X-User-Token`. */
  user_token: ShownToken | null
  /** At the token endpoint: the client that asks, in the form or by HTTP Basic. */
  client_id: string | null
}

/** The answer; with `dropped` and `abandoned`, the one that would have been sent, if known. */
export interface RecordedResponse {
  status: number
  headers: [name: string, value: string][]
  body: string | null
  body_bytes: number
  body_cut: boolean
  /** The error code in the body; null when there is none. */
  code: string | null
  /** At the token endpoint: the issued token, and its `expires_in` in seconds. */
  issued: { token: ShownToken; expires_in: number } | null
}

/** One step of a transfer, at the moment when it happened. */
export interface RecordedStep {
  step: TransferStep
  at: Moment
  /** True if the exchange had ended before: its client had left, or a fault had ended the connection. Times may be equal. */
  after_end: boolean
  /** With `mined`: number of its block. */
  block?: number
  /** With `signed`: nonce of its transaction. */
  nonce?: number
}

/** The transaction that an exchange caused, or whose outcome it got again. */
export interface CausedTransfer {
  type: 'deposit' | 'withdraw'
  /** Null before it is signed. */
  transaction_id: string | null
  tx_hash: string | null
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  /** The request whose answer showed this amount as the total, so that everything was withdrawn; null if no such answer was decisive. */
  shown_by: string | null
  /** What became of it so far, in order; empty if another exchange carried it out. */
  steps: RecordedStep[]
}

/** One request to the service or the token endpoint, its answer, and its effects. */
export interface RecordedExchange {
  request_id: string
  /** Counts the exchanges of a namespace since its last reset, from 1, in the order in which they arrived. */
  number: number
  /** Null when the path is not one of the service. */
  operation: Operation | null
  /** Slug of the tenant, verified or claimed. */
  tenant: string | null
  external_id: string | null
  /** Ordinal (from 1) among the exchanges of its operation and end user. */
  ordinal: number
  /** Ordinal of its connection, from 1. */
  connection: number
  began: Moment
  /** Null while it is open. */
  ended: Moment | null
  end: ExchangeEnd
  /**
   * True if the client reset the connection after the answer and before it sent anything else on it: it has not read the answer. Based
   * on the sandbox's own connections: a proxy in front of it may read an answer that the client does not.
   */
  unread: boolean
  /** How a fault ended the connection; null when none did. */
  dropped: 'reset' | 'closed' | 'truncated' | null
  /** Milliseconds of real time from its first header to its end, or until now. */
  took_ms: number
  request: RecordedRequest
  /** Null when there was none. */
  response: RecordedResponse | null
  refusal: Refusal | null
  /** Faults that struck it. */
  faults: StruckBy[]
  /**
   * Null without a key. `first`: this exchange ran the operation. `joined`: an earlier one of the same key was running it. `replayed`:
   * it got the kept outcome. `unused`: it was refused before the key was looked up.
   */
  idempotency: { key: string; use: 'first' | 'joined' | 'replayed' | 'unused' } | null
  transfer: CausedTransfer | null
}

/** An exchange without the member that takes longest to find out. */
export type UncountedExchange = Omit<RecordedExchange, 'ordinal'>
