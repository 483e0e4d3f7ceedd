/** The service answered, and the answer is an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** What programs go by: `insufficient_balance`. An unknown one is to be treated as its status says. */
  readonly code: string
  /** Names the request towards support. */
  readonly requestId: string | undefined
  /** Milliseconds the service wants you to wait, if it says so. */
  readonly retryAfter: number | undefined

  constructor(response: Response, code: string, detail: string) {
    const requestId = response.headers.get('x-service-request-id') ?? undefined
    super(`${response.status} ${code}: ${detail} (request ${requestId ?? 'without an id'})`)
    this.status = response.status
    this.code = code
    this.requestId = requestId
    this.retryAfter = millisecondsOf(response.headers.get('retry-after'))
  }
}

/** No answer that could be read: the connection broke, time ran out, the body was cut. What was asked for may have happened. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/**
 * What was asked for may have happened: no retry and no look-up could say. Keep the key: repeating the same request under it, until it
 * succeeds or is refused with 422, is safe and tells the outcome. Never repeat it under a fresh key.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  readonly key: string

  constructor(key: string, cause: unknown) {
    super(`the outcome is unknown; repeat the same request with Idempotency-Key ${key}`, { cause })
    this.key = key
  }
}

/** `Retry-After` has seconds or a date (RFC 9110 §10.2.3). */
function millisecondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
