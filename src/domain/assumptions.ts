import type { ServiceSettings } from './service-settings.ts'

/** One point the specification leaves open, and what the sandbox does there. */
export interface Assumption {
  id: string
  open_point: string
  behaviour: string
  /** The fixture file's setting that switches it, and what it is set to. */
  setting?: { name: string; active: unknown }
}

interface Row {
  id: string
  open_point: string
  behaviour: string
  setting?: keyof ServiceSettings
}

const ROWS: readonly Row[] = [
  row('brand', "the brand's name in the two response headers", 'Service, unless named otherwise', 'name'),
  row('protocol-names', 'the two literal protocol names', 'the first is Aave V3 and the default', 'protocols'),
  row('audience', '<service_audience>', 'aud of both tokens', 'audience'),
  row(
    'error-body',
    'body fields beside code',
    'RFC 9457: type, title, status, detail, instance, code, request_id, param, errors',
    'error_body',
  ),
  row(
    'error-precedence',
    'which error wins when several apply',
    'the head of the request (400, 414, 501), route, identity-provider token, role, user token, sub, Idempotency-Key, the type and coding of the body, its size, path and query, body, end user, pool or portfolio, balance',
  ),
  row(
    'create-end-user',
    'the whole endpoint',
    'identity-provider token only; external_id and optional user_jwt; 201 also for a known external_id',
    'end_user_jwt',
  ),
  row('ids', 'what follows the prefixes', 'ULIDs: jar_, usr_, txn_, req_ and 26 characters'),
  row('amount-unit', 'the unit of the four amounts', "the token's minor units, a digit string"),
  row(
    'balance-meaning',
    'how the four amounts relate',
    'yield_earned = total_balance − deposited + yield_earned_realized; a withdrawal takes principal and yield in proportion',
  ),
  row(
    'list-portfolio-fields',
    "list items' other fields",
    'those of the create response, apy_snapshot, total_gross_yield_earned, total_fees_paid, last_synced_at',
  ),
  row('list-order', 'order of pools and portfolios', 'pools by pool_id; portfolios oldest first'),
  row('has-more', 'has_more when paging backward', 'true exactly when next_cursor is not null'),
  row('limit-invalid', 'limit outside 1 to 100, not a whole number', '400 validation_error, param limit'),
  row('cursor-scope', 'a genuine cursor on another list, tenant or end user', '400 cursor_invalid'),
  row('transfer-status', 'success status of deposit and withdraw', '200, unless set to 201', 'transfer_status'),
  row('transfer-response', 'fields beside tx_hash', 'the flat portfolio after the transaction, and transaction_id'),
  row(
    'transfer-errors',
    'deposit and withdraw errors',
    '404 portfolio_not_found, 400 validation_error, 422 insufficient_balance, 422 transaction_reverted, 503 chain_unavailable',
  ),
  row(
    'withdraw-all',
    'rounding at full withdrawal',
    'an amount within one minor unit of total_balance, or below it by so much yield, empties the position',
    'full_withdrawal_threshold',
  ),
  row(
    'transaction-fields',
    'the transaction record',
    'amounts and yield before and after; yield_delta is the yield accrued since the previous transaction',
  ),
  row('transaction-visible', 'when a transaction first appears in the list', 'once confirmed, never before'),
  row('wallet', 'where deposited funds come from', 'a wallet per end user, funded from the fixture'),
  row('idempotency-missing', 'header absent', '400 idempotency_key_required'),
  row('idempotency-format', 'not a UUID v4', '400 validation_error; a quoted value is accepted'),
  row('idempotency-scope', 'who shares a key', 'one tenant, one operation, one external_id'),
  row('idempotency-mismatch', 'same key, other body', '422 idempotency_key_in_use_with_different_params'),
  row(
    'idempotency-in-flight',
    'same key while the first still runs',
    'the second joins the first, or gets 409 idempotency_key_in_progress',
    'idempotency_in_flight',
  ),
  row('idempotency-ttl', 'how long the response is kept', 'milliseconds of the sandbox clock', 'idempotency_ttl'),
  row(
    'idempotency-errors',
    'are error responses kept',
    'those the operation itself decided (404, 422); not 400, 401, 403, 429, nor 5xx',
  ),
  row('idempotency-replay-header', 'telling a replay', 'Idempotency-Key-Replay: true or false'),
  row('idp-token-claims', 'claims beside appid', "an Entra v1 application token's"),
  row('idp-lifetime', 'expires_in', 'seconds', 'idp_token_lifetime'),
  row('idp-errors', 'token endpoint errors', 'RFC 6749 §5.2; client_secret in the form or by HTTP Basic'),
  row('user-key', 'how a partner registers its key and issuer', 'in the fixture file: jwks_uri, jwks or a PEM'),
  row('user-token-issuer', 'iss, aud, alg, kid or typ wrong, or header missing', '401 invalid_user_token'),
  row(
    'user-token-times',
    'iat absent, iat or nbf in the future, exp passed',
    'iat may be absent; iat and nbf may be so many seconds ahead; exp is exact; no longest lifetime',
    'user_token_leeway',
  ),
  row('idp-token-issuer', 'another iss, tid or ver in a well-signed identity-provider token', '401 invalid_idp_token'),
  row('role-access', 'which tenant may call what', "everything, unless the fixture's access lists fewer"),
  row('unknown-route', 'unknown path or method', '404 not_found, 405 method_not_allowed with Allow'),
  row(
    'body-limits',
    'oversized, malformed or wrongly typed requests',
    '413 payload_too_large over 100 KiB; 400 validation_error for malformed JSON, over 64 levels, 10,000 values or 1,000 query parameters; 415 unsupported_media_type for other types, charsets and codings; 414 uri_too_long over 8 KiB; 431 request_header_fields_too_large over 16 KiB; 408 request_timeout after 60 s',
  ),
  row('rate-limit', 'request rate limits', 'none; a fault can answer 429 rate_limited'),
  row('fees', 'fees', 'none: total_fees_paid is "0"'),
  row('swaps', 'token swaps', 'none'),
]

/** Every assumption with its active setting. */
export function assumptions(settings: ServiceSettings): Assumption[] {
  return ROWS.map(({ setting, ...shown }) =>
    setting ? { ...shown, setting: { name: `service.${setting}`, active: settings[setting] } } : shown,
  )
}

function row(id: string, open_point: string, behaviour: string, setting?: keyof ServiceSettings): Row {
  return { id, open_point, behaviour, ...(setting && { setting }) }
}
