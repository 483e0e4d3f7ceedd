import type { ErrorCode, Problem } from '../domain/errors.ts'
import type { Check, Refusal } from './recorded-exchange.ts'

/** The check of each code that only one check can give. */
const CHECKS: Partial<Record<ErrorCode, Check>> = {
  uri_too_long: 'head',
  request_header_fields_too_large: 'head',
  not_implemented: 'head',
  not_found: 'route',
  method_not_allowed: 'route',
  sandbox_starting: 'ready',
  control_token_required: 'fault',
  token_missing: 'idp_token',
  invalid_idp_token: 'idp_token',
  unknown_partner: 'idp_token',
  insufficient_role: 'role',
  invalid_user_token: 'user_token',
  unknown_partner_issuer: 'user_token',
  cross_tenant_jwt: 'user_token',
  sub_url_mismatch: 'subject',
  idempotency_key_required: 'idempotency_key',
  idempotency_key_in_progress: 'idempotency_key',
  idempotency_key_in_use_with_different_params: 'idempotency_key',
  payload_too_large: 'body',
  unsupported_media_type: 'body',
  request_timeout: 'body',
  conflicting_cursors: 'parameters',
  cursor_invalid: 'parameters',
  cursor_expired: 'parameters',
}

/** The check of each parameter, if the code alone does not determine it. */
const CHECKS_OF_PARAMETERS: Record<string, Check> = {
  'X-Sandbox-Fault': 'fault',
  'Idempotency-Key': 'idempotency_key',
  body: 'body',
  'Content-Type': 'body',
  Host: 'head',
  Authorization: 'head',
  query: 'head',
  path: 'head',
  request: 'head',
}

/** Turns a problem into a refusal on record. */
export function refusalOf({ code, details }: Problem): Refusal {
  const { param, detail, aspect = param, expected, came } = details
  return {
    check: details.check ?? CHECKS[code] ?? checkOf(code, param),
    code,
    aspect: aspect ?? null,
    expected: expected ?? null,
    came: came ?? null,
    detail,
  }
}

function checkOf(code: ErrorCode, param = ''): Check {
  if (code !== 'validation_error') return 'operation'
  const check = Object.hasOwn(CHECKS_OF_PARAMETERS, param) ? CHECKS_OF_PARAMETERS[param] : undefined
  return check ?? 'parameters'
}
