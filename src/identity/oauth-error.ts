import type { Check } from '../domain/check.ts'
import { requiredHeaders } from '../domain/errors.ts'

/**
 * Error codes of RFC 6749 §5.2 that the token endpoint answers with. `server_error` is for failures of the sandbox itself, the last one
 * for a sandbox that is not ready (the word is from §4.1.2.1).
 */
export const OAUTH_ERRORS = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
] as const

/** One of {@link OAUTH_ERRORS}. */
export type OAuthErrorCode = (typeof OAUTH_ERRORS)[number]

/** Content of an error of the token endpoint beside its code. */
export interface OAuthErrorDetails {
  status?: number
  headers?: Record<string, string>
  /** For the record of the exchange only, as with a Problem. */
  check?: Check
  aspect?: string
  expected?: string
  /** Never a secret. */
  came?: string
}

/** Thrown to answer with an error of RFC 6749 §5.2. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly status: number
  readonly headers: Record<string, string>

  constructor(
    /** One of {@link OAUTH_ERRORS}, or the code that a fault asks for. */
    readonly error: OAuthErrorCode | (string & {}),
    /** ASCII without quotation marks and backslashes (RFC 6749 §5.2). */
    readonly description: string,
    readonly details: OAuthErrorDetails = {},
  ) {
    super(`${error}: ${description}`)
    this.status = details.status ?? 400
    this.headers = { ...requiredHeaders(this.status), ...details.headers }
  }
}
