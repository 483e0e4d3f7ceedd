import type { Problem } from './errors.ts'
import type { Operation } from './operations.ts'

/** How a connection ends without a proper answer. */
export type Drop =
  /** TCP reset. */
  | { how: 'reset' }
  /** Orderly close without an answer. */
  | { how: 'close' }
  /** Closed after so many bytes of the answer's body. */
  | { how: 'truncate'; bytes: number }

/** An answer about to be written; a fault may change it. */
export interface Answer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
  /** The body trickles out at so many bytes a second until the signal lets the rest go; at once when absent. */
  trickle?: { bytesPerSecond: number; released: AbortSignal }
}

/** How the identity provider's answer is to differ from a good one. */
export interface IdpTokenChanges {
  key?: 'unknown'
  /** Seconds; negative for one that has expired. */
  lifetime?: number
  claims?: Record<string, unknown>
  /** No token at all, but this error of RFC 6749 §5.2. */
  refusal?: { error: string; status: number }
}

/** A fault that has struck an exchange. */
export interface StruckBy {
  /** The rule's id, or `header`. */
  id: string
  kind: string
  phase: string
  explanation: string
}

/** One request and its response, from the first header to the end of the connection, as faults see it. */
export interface Exchange {
  readonly request_id: string
  readonly operation: Operation
  /** Slug of the tenant, or of the one the unverified token names before it is verified. */
  readonly tenant: string | undefined
  readonly external_id: string | undefined
  /** Its Idempotency-Key as the service compares it, in lower case. */
  readonly idempotency_key: string | undefined
  /** True if the request pages by a cursor. */
  readonly has_cursor: boolean
  /** True if the operation needs a user token. */
  readonly has_user_token: boolean
  /** The answer, while it is being written (`during_response`). */
  readonly answer: Answer | undefined
  /** Aborted when the answer is out or the client's connection has ended. Work under way goes on. */
  readonly over: AbortSignal
  /** The fault that has struck it: there is one at most. */
  struckBy: StruckBy | undefined
  /** Set by faults on the token operation: what the identity provider issues. */
  tokenWish: IdpTokenChanges
  /** Resolves when the request's body is on record, as far as it comes in a second: call it before a fault answers for the service. */
  readBody(): Promise<void>
  /** Ends the connection now, or with `truncate` when the response is written. Work under way goes on. */
  drop(drop: Drop): void
  /** Leaves the client without any answer until the signal drops the connection. Work under way goes on. */
  hang(until: AbortSignal): void
  /** Answers now with an error. Work under way goes on, and what it comes to is kept under its Idempotency-Key. */
  answerNow(problem: Problem): void
}

/** Thrown by a fault that leaves nothing to answer and nothing to do. */
export class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded'
}
