import { requiredHeaders } from '../domain/required-headers.ts'

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

/** Thrown to answer with an error of RFC 6749 §5.2. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly headers: Record<string, string>

  constructor(
    /** One of {@link OAUTH_ERRORS}, or what a fault asks for. */
    readonly error: OAuthErrorCode | (string & {}),
    /** ASCII without quotation marks and backslashes (RFC 6749 §5.2). */
    readonly description: string,
    readonly status = 400,
    headers: Record<string, string> = {},
  ) {
    super(`${error}: ${description}`)
    this.headers = { ...requiredHeaders(status), ...headers }
  }
}
