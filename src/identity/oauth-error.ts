import type { Check } from '../domain/check.ts'
import { requiredHeaders } from '../domain/errors.ts'

/**
 * Error codes of RFC 6749 §5.2 the token endpoint answers with; `server_error` is for faults of the sandbox itself, and
 * the last for a sandbox that is not ready (the word is §4.1.2.1's). */
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

/** What an error of the token endpoint carries beside its code. */
export interface OAuthErrorDetails {
  status?: number
  headers?: Record<string, string>
  /** For the record of the exchange alone, as with a Problem. */
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
    /** One of {@link OAUTH_ERRORS}, or what a fault asks for. */
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
