import { shorten } from '../support/foreign-text.ts'
import { formatPath, type Issue, wordsOf } from '../support/issue.ts'
import type { Check } from './check.ts'

/** Catalogue of all errors that the service answers with: status, row of the fidelity manifest, title of the problem body. */
export const ERRORS = {
  // spec: Errors
  validation_error: { status: 400, row: 'errors-400-validation-error', title: 'A parameter is not valid' },
  conflicting_cursors: { status: 400, row: 'errors-400-conflicting-cursors', title: 'Both cursors were given' },
  cursor_invalid: { status: 400, row: 'errors-400-cursor-invalid', title: 'The cursor is not valid' },
  token_missing: { status: 401, row: 'errors-401-token-missing', title: 'The bearer token is missing' },
  invalid_idp_token: {
    status: 401,
    row: 'errors-401-invalid-idp-token',
    title: 'The identity-provider token is not valid',
  },
  unknown_partner: {
    status: 401,
    row: 'errors-401-unknown-partner',
    title: 'The partner application is not registered',
  },
  invalid_user_token: { status: 401, row: 'errors-401-invalid-user-token', title: 'The user token is not valid' },
  unknown_partner_issuer: {
    status: 401,
    row: 'user-token-codes',
    title: 'The issuer of the user token is not registered',
  },
  cross_tenant_jwt: { status: 401, row: 'user-token-codes', title: 'The user token is of another tenant' },
  insufficient_role: {
    status: 403,
    row: 'errors-403-insufficient-role',
    title: 'The tenant has no access to this endpoint',
  },
  sub_url_mismatch: {
    status: 403,
    row: 'errors-403-sub-url-mismatch',
    title: 'The user token belongs to another end user',
  },
  end_user_not_found: { status: 404, row: 'errors-404-end-user-not-found', title: 'The end user does not exist' },
  cursor_expired: { status: 410, row: 'errors-410-cursor-expired', title: 'The cursor has expired' },
  pool_not_found: { status: 422, row: 'errors-422-pool-not-found', title: 'The pool is not registered for the tenant' },
  // Chosen by the sandbox.
  idempotency_key_required: { status: 400, row: 'idempotency-missing', title: 'The Idempotency-Key header is missing' },
  not_found: { status: 404, row: 'unknown-route', title: 'There is nothing at this path' },
  portfolio_not_found: { status: 404, row: 'transfer-errors', title: 'The portfolio does not exist' },
  method_not_allowed: { status: 405, row: 'unknown-route', title: 'The method is not allowed here' },
  idempotency_key_in_progress: {
    status: 409,
    row: 'idempotency-in-flight',
    title: 'The first request with this Idempotency-Key still runs',
  },
  request_timeout: { status: 408, row: 'body-limits', title: 'The request did not arrive in time' },
  payload_too_large: { status: 413, row: 'body-limits', title: 'The request body is too large' },
  uri_too_long: { status: 414, row: 'body-limits', title: 'The path and query are too long' },
  unsupported_media_type: { status: 415, row: 'body-limits', title: 'The content type is not supported' },
  idempotency_key_in_use_with_different_params: {
    status: 422,
    row: 'idempotency-mismatch',
    title: 'The Idempotency-Key was used with another request body',
  },
  amount_too_small: { status: 422, row: 'transfer-errors', title: 'The amount is too small' },
  insufficient_balance: { status: 422, row: 'transfer-errors', title: 'The balance is too small' },
  transaction_reverted: { status: 422, row: 'transfer-errors', title: 'The transaction was reverted on chain' },
  bad_gateway: { status: 502, row: 'failures', title: 'A proxy got no proper answer' },
  service_unavailable: { status: 503, row: 'failures', title: 'The service is unavailable' },
  gateway_timeout: { status: 504, row: 'failures', title: 'A proxy waited too long' },
  rate_limited: { status: 429, row: 'rate-limit', title: 'Too many requests' },
  request_header_fields_too_large: { status: 431, row: 'body-limits', title: 'The headers are too long' },
  internal_error: { status: 500, row: 'failures', title: 'Internal error' },
  not_implemented: { status: 501, row: 'body-limits', title: 'The transfer coding or the method is not known' },
  chain_unavailable: { status: 503, row: 'transfer-errors', title: 'The chain cannot be reached' },
  // The control interface.
  control_forbidden: { status: 403, row: 'sandbox-routes', title: 'The control interface refuses this caller' },
  control_token_required: { status: 401, row: 'sandbox-routes', title: 'The control token is missing or wrong' },
  namespace_not_found: { status: 404, row: 'namespaces', title: 'The namespace does not exist' },
  namespace_exists: { status: 409, row: 'namespaces', title: 'The name of the namespace is taken' },
  too_many_namespaces: { status: 409, row: 'namespaces', title: 'There are as many namespaces as there may be' },
  tenant_not_found: { status: 404, row: 'sandbox-routes', title: 'The tenant does not exist' },
  fault_not_found: { status: 404, row: 'sandbox-routes', title: 'The fault does not exist' },
  scenario_not_found: { status: 404, row: 'sandbox-routes', title: 'The scenario does not exist' },
  request_not_found: { status: 404, row: 'sandbox-routes', title: 'The request is not recorded' },
  transaction_not_found: { status: 404, row: 'sandbox-routes', title: 'The transaction is on no chain' },
  operation_not_found: { status: 404, row: 'sandbox-routes', title: 'The operation is not recorded' },
  scenario_running: { status: 409, row: 'sandbox-routes', title: 'Another scenario is running' },
  sandbox_starting: { status: 503, row: 'not-serving', title: 'The sandbox is not ready yet' },
} as const satisfies Record<string, { status: number; row: string; title: string }>

/** A value of the error body's `code`. */
export type ErrorCode = keyof typeof ERRORS

/** Realms for errors about a credential that is not the identity provider's token. */
const REALMS: Partial<Record<ErrorCode, Realm>> = {
  invalid_user_token: 'user-token',
  unknown_partner_issuer: 'user-token',
  cross_tenant_jwt: 'user-token',
  control_token_required: 'control',
}

/** Value of `WWW-Authenticate` for an error about a credential; `given` is true if the request carried one. */
export function challengeOf(code: ErrorCode, given: boolean): string {
  return bearerChallenge(REALMS[code] ?? 'partner-api', given ? ERRORS[code].title : undefined)
}

/** A parameter at fault and the reason, in the words of {@link Issue}. */
export interface ParameterFault {
  /** Such as `amount_minor`, `[1].match.tenant`, `X-Sandbox-Fault`; `body` for the whole body. */
  param: string
  detail: string
  /** For the record of the exchange, if they are known separately. */
  expected?: string | undefined
  came?: string | undefined
}

/** Content of an error answer beside its code. */
export interface ProblemDetails {
  /** A sentence that says what is wrong, with the expected value. */
  detail: string
  /** The parameter at fault, if the error is about one. */
  param?: string
  /** All faults, if there are several; {@link invalidParameters} lists them. */
  errors?: ParameterFault[]
  /** Response headers, such as `Allow`; they replace those that the status implies. */
  headers?: Record<string, string>
  /** For the record of the exchange only; no answer carries it. */
  check?: Check
  /** The claim, header or field at fault, if it is narrower than `param`: `kid`, `exp`, `signature`. */
  aspect?: string
  /** The value that would have passed, and the one that came; neither holds a secret. */
  expected?: string
  came?: string
}

/** Most faults that one answer lists: text quoted from a request must not make the answer many times as long. */
const MAX_LISTED = 20
const MAX_DETAIL = 8000
/** Most characters of one fault among several: enough for a list of all allowed words. */
const MAX_FAULT = 1000
const MAX_PARAM = 100

/** Thrown by any part of the service to answer with an error of the catalogue. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly details: ProblemDetails & { headers: Record<string, string> }

  constructor(
    readonly code: ErrorCode,
    details: ProblemDetails,
    options?: ErrorOptions,
  ) {
    const detail = shorten(details.detail, MAX_DETAIL)
    super(`${code}: ${detail}`, options)
    const headers = requiredHeaders(ERRORS[code].status, challengeOf(code, code !== 'token_missing'))
    this.details = { ...details, detail, headers: { ...headers, ...details.headers } }
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** Converts an issue in a request to the form that the answer lists. */
export function parameterFault(issue: Issue): ParameterFault {
  const { expected, came } = issue
  return { param: formatPath(issue.path) || 'body', detail: wordsOf(issue), expected, came }
}

/** Problem validation_error for one parameter or several at fault. */
export function invalidParameters(errors: readonly ParameterFault[]): Problem {
  const listed = errors.slice(0, MAX_LISTED).map(boundedFault)
  const sentences = listed.map(({ param, detail }) => `${param}: ${detail}${detail.endsWith('?') ? '' : '.'}`)
  if (errors.length > listed.length) sentences.push(`These are the first ${listed.length} of more.`)
  const [first] = listed
  const { expected, came } = errors[0] ?? {}
  return new Problem('validation_error', {
    detail: sentences.join(' '),
    ...(first && { param: first.param }),
    ...(expected !== undefined && { expected }),
    ...(came !== undefined && { came }),
    errors: listed,
  })
}

function boundedFault({ param, detail }: ParameterFault): ParameterFault {
  return { param: shorten(param, MAX_PARAM), detail: shorten(detail, MAX_FAULT) }
}

/** The credential that a 401 is about: the identity provider's token, the partner's user token, the control token. */
type Realm = 'partner-api' | 'user-token' | 'control'

/**
 * Value of `WWW-Authenticate` for a bearer token. `refusal` says what is wrong with the token; leave it out if the request had none:
 * the challenge then has no error (RFC 6750 §3.1). ASCII without quotation marks and backslashes.
 */
function bearerChallenge(realm: Realm, refusal?: string): string {
  const challenge = `Bearer realm="${realm}"`
  return refusal === undefined ? challenge : `${challenge}, error="invalid_token", error_description="${refusal}"`
}

/** Headers that every answer of this status carries, with the challenge of a 401. Names in lower case. */
export function requiredHeaders(status: number, challenge?: string): Record<string, string> {
  // RFC 9110 §15.5.2
  if (status === 401 && challenge !== undefined) return { 'www-authenticate': challenge }
  // RFC 6585 §4, RFC 9110 §15.6.4: the header is optional there, but a client that finds none has to guess.
  return status === 429 || status === 503 ? { 'retry-after': '1' } : {}
}
