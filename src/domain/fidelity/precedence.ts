/** A check that a request can fail, and what it is refused with then. */
interface Precedence {
  id: string
  /** For people. */
  words: string
}

/**
 * What is checked first: of two things that are wrong with a request, the one that stands higher is answered. Assumption
 * `error-precedence`.
 */
export const PRECEDENCE = [
  { id: 'head', words: 'the head of the request (400, 414, 431, 501)' },
  { id: 'route', words: 'route (404, 405)' },
  { id: 'idp_token', words: 'identity-provider token' },
  { id: 'role', words: 'role' },
  { id: 'user_token', words: 'user token' },
  { id: 'subject', words: 'sub' },
  { id: 'idempotency_key', words: 'Idempotency-Key' },
  { id: 'type', words: 'the type and coding of the body (415)' },
  { id: 'size', words: 'its size (413)' },
  { id: 'parameters', words: 'path and query' },
  { id: 'cursors', words: 'two cursors at once' },
  { id: 'cursor', words: 'the cursor (400, 410)' },
  { id: 'body', words: 'the form and the values of the body together' },
  { id: 'mismatch', words: 'a key in use with another body' },
  { id: 'user_jwt', words: 'user_jwt' },
  { id: 'end_user', words: 'end user' },
  { id: 'portfolio', words: 'pool or portfolio' },
  { id: 'balance', words: 'balance' },
] as const satisfies readonly Precedence[]

/** The id of one of {@link PRECEDENCE}. */
export type PrecedenceId = (typeof PRECEDENCE)[number]['id']
