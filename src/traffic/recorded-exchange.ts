import type { Check } from '../domain/check.ts'
import type { StruckBy } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'

export type { Check }

/** One moment on both clocks, ISO 8601 UTC with milliseconds. */
export interface Moment {
  /** Real time: what the client's own timers and tokens go by. */
  wall: string
  /** Business time: the sandbox clock, which tests move. */
  clock: string
}

/** The values of {@link ExchangeEnd}. */
export const EXCHANGE_ENDS = ['open', 'answered', 'dropped', 'abandoned', 'cut_off'] as const

/**
 * How an exchange ended. `answered`: all of an answer was handed over. `dropped`: a fault ended the connection. `abandoned`: the
 * client left before it was answered. `cut_off`: a reset or the end of the sandbox ended it. `open`: not at all yet.
 */
export type ExchangeEnd = (typeof EXCHANGE_ENDS)[number]

/** Why a request was refused. */
export interface Refusal {
  check: Check
  /** Of the catalogue of errors, or of RFC 6749 §5.2. */
  code: string
  /** The parameter, header, claim or form field at fault: `kid`, `iss`, `aud`, `exp`, `signature`, `client_secret`, `amount_minor`. */
  aspect: string | null
  /** In words; null where there is no single right value. */
  expected: string | null
  came: string | null
  /** The sentence that the answer carried, or would have. */
  detail: string
}

/** A JSON Web Token without its signature. */
export interface ShownToken {
  /** The same for the same token; says nothing about it. */
  fingerprint: string
  /** Null when it is no JWT. */
  header: Record<string, unknown> | null
  claims: Record<string, unknown> | null
}

/** What the client sent; secrets and signatures are gone. */
export interface RecordedRequest {
  method: string
  /** Without the query. */
  path: string
  /** In the order sent, decoded. */
  query: [name: string, value: string][]
  /** In the order sent; names as sent. */
  headers: [name: string, value: string][]
  /** Null when there was none, or none was read. */
  body: string | null
  /** Bytes that have come, also of what was not kept. */
  body_bytes: number
  /** True if only the beginning of the body was kept, or came: none of it may have. */
  body_cut: boolean
  /** Of `Authorization: Bearer`. */
  idp_token: ShownToken | null
  /** Of `X-User-Token`. */
  user_token: ShownToken | null
  /** At the token endpoint: who asks, in the form or by HTTP Basic. */
  client_id: string | null
}

/** What it was answered; with `dropped` and `abandoned`, what it would have been, where that is known. */
export interface RecordedResponse {
  status: number
  headers: [name: string, value: string][]
  body: string | null
  body_bytes: number
  body_cut: boolean
  /** The error code in the body; null when it is none. */
  code: string | null
  /** At the token endpoint: what was issued, and for how many seconds by its `expires_in`. */
  issued: { token: ShownToken; expires_in: number } | null
}

/** The transaction that an exchange caused, or whose outcome it was given again. */
export interface CausedTransfer {
  type: 'deposit' | 'withdraw'
  /** Null before it is signed. */
  transaction_id: string | null
  tx_hash: string | null
  portfolio_id: string
  /** Minor units, a digit string. */
  amount_minor: string
  /** The request whose answer showed this amount as the total, so that everything was withdrawn; null when that decided nothing. */
  shown_by: string | null
}

/** One request to the service or the token endpoint and what became of it. */
export interface RecordedExchange {
  request_id: string
  /** Counts the exchanges of a namespace since its last reset, from 1, in the order in which they arrived. */
  number: number
  /** Null when the path is none of the service's. */
  operation: Operation | null
  /** Slug of the tenant, verified or claimed. */
  tenant: string | null
  external_id: string | null
  /** The how-manyth of its operation for its end user it is, from 1. */
  ordinal: number
  /** Ordinal of the connection it came on, from 1. */
  connection: number
  began: Moment
  /** Null while it is open. */
  ended: Moment | null
  end: ExchangeEnd
  /**
   * Whether the client reset the connection after it was answered, and before it sent anything else on it: it has not read the answer. Only
   * as far as the sandbox's own connections show: a proxy in front of it reads what its client does not.
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
  /** Those that struck it. */
  faults: StruckBy[]
  /**
   * Null without a key. `first`: this exchange ran the operation. `joined`: an earlier one of the same key was running it. `replayed`:
   * it was given what was kept. `unused`: it was refused before the key was looked at.
   */
  idempotency: { key: string; use: 'first' | 'joined' | 'replayed' | 'unused' } | null
  transfer: CausedTransfer | null
}
