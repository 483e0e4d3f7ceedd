import type { Operation } from './operations.ts'

/** How a connection is broken: TCP reset, orderly close without an answer, or after so many bytes of the answer. */
export type Drop = { how: 'reset' } | { how: 'close' } | { how: 'truncate'; bytes: number }

/** One request and its response, from the first header to the end of the connection, as faults see it. */
export interface Exchange {
  readonly request_id: string
  readonly operation: Operation
  /** Slug, or what the unverified token claims before it is verified. */
  readonly tenant: string | undefined
  readonly external_id: string | undefined
  /** Whether the request pages by a cursor. */
  readonly has_cursor: boolean
  /** Whether the operation needs a user token. */
  readonly has_user_token: boolean
  /** Breaks the connection now, or with `truncate` when the response is written. */
  drop(drop: Drop): void
}

/** Thrown after a drop that also ends the work on the request: nothing is left to answer. */
export class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded'
}
