import type { Problem } from './errors.ts'
import type { Operation } from './operations.ts'

/** Ways in which a connection ends without a proper answer. */
export type Drop =
  /** TCP reset. */
  | { how: 'reset' }
  /** Orderly close without an answer. */
  | { how: 'close' }
  /** Closed after this number of bytes of the answer's body. */
  | { how: 'truncate'; bytes: number }

/** An answer that is about to be written; a fault may change it. */
export interface Answer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
  /** Sends the body at this rate until the signal releases the rest; without it, the whole body goes out at once. */
  trickle?: { bytesPerSecond: number; released: AbortSignal }
}

/** Changes of the identity provider's answer against a good one. */
export interface IdpTokenChanges {
  key?: 'unknown'
  /** Seconds; negative for a token that has expired. */
  lifetime?: number
  claims?: Record<string, unknown>
  /** Answers with this error of RFC 6749 §5.2 instead of a token. */
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
  /** The address that the client addressed, as its `Host` header has it, in lower case. */
  readonly host: string | undefined
  /** Slug of the tenant; until the token is verified, of the tenant that it names. */
  readonly tenant: string | undefined
  readonly external_id: string | undefined
  /** The Idempotency-Key as the service compares it, in lower case. */
  readonly idempotency_key: string | undefined
  /** True if the request has a cursor. */
  readonly has_cursor: boolean
  /** True if the operation needs a user token. */
  readonly has_user_token: boolean
  /** The answer, while it is being written (`during_response`). */
  readonly answer: Answer | undefined
  /** Aborted when the answer is out or the client's connection has ended. Work under way goes on. */
  readonly over: AbortSignal
  /** The fault that has struck the exchange; one at most. */
  struckBy: StruckBy | undefined
  /** Set by faults on the token operation: changes of the token that the identity provider issues. */
  tokenWish: IdpTokenChanges
  /** Resolves when the body is on record, or the part that arrives within a second. Call it before a fault answers for the service. */
  readBody(): Promise<void>
  /** Ends the connection now, or with `truncate` when the response is written. Work under way goes on. */
  drop(drop: Drop): void
  /** Leaves the client without any answer until the signal drops the connection. Work under way goes on. */
  hang(until: AbortSignal): void
  /** Answers now with an error. Work under way goes on, and its outcome is kept under the Idempotency-Key. */
  answerNow(problem: Problem): void
}

/** Thrown by a fault that leaves nothing to answer and nothing to do. */
export class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded'
}
