import type { RecordedExchange } from './recorded-exchange.ts'

const TAKE_KEY_AGAIN = 'Repeat it with the same Idempotency-Key'

const SEND_USER_TOKEN =
  'Send the header X-User-Token with a user token: a JWT that you sign for the end user in the URL.'

/** What a client does about an error, by its code: of the catalogue, or of the token endpoint. */
const STEPS: Record<string, string> = {
  validation_error: 'Send the request as expected; the same one will be refused again.',
  conflicting_cursors: 'Send one of the two cursors.',
  cursor_invalid: 'Pass cursors on unchanged, on the list that they came from; fetch the first page.',
  cursor_expired: 'Fetch the first page and go on from there.',
  token_missing: 'Send the header Authorization: Bearer with a token of the token endpoint.',
  invalid_idp_token: 'Obtain a new token from the token endpoint and repeat the request once.',
  unknown_partner: 'Compare the client id with the one that is registered; do not repeat the request.',
  invalid_user_token: 'Mint a new user token; if that is refused too, compare key and issuer with what is registered.',
  unknown_partner_issuer: 'Compare the issuer of the user token with the one that is registered.',
  cross_tenant_jwt: 'Sign the user token with the key of the tenant whose access token is sent.',
  insufficient_role: 'Ask for access to this operation; do not repeat the request.',
  sub_url_mismatch: 'Use the user token of the end user in the URL.',
  end_user_not_found: 'Create the end user, then send the request with a fresh Idempotency-Key.',
  pool_not_found: 'Take chain, token, market and protocol from one item of the pool list.',
  idempotency_key_required: 'Send an Idempotency-Key: a UUID v4, fresh for each operation, the same for its retries.',
  not_found: 'Compare the URL with the base URL of the service.',
  portfolio_not_found: 'Compare portfolio_id with the list of portfolios.',
  method_not_allowed: 'Use a method that the header Allow names.',
  idempotency_key_in_progress: 'Wait as long as Retry-After says, then repeat it with the same Idempotency-Key.',
  request_timeout: 'Send it again, all of it within 60 s.',
  payload_too_large: 'Send a smaller body.',
  uri_too_long: 'Send a shorter path and query.',
  unsupported_media_type: 'Send Content-Type: application/json, and the body as it is.',
  idempotency_key_in_use_with_different_params:
    'Give each operation a fresh Idempotency-Key; only a retry keeps its own.',
  amount_too_small: 'Deposit more, with a fresh Idempotency-Key.',
  insufficient_balance: 'Report it to the end user; another amount takes a fresh Idempotency-Key.',
  transaction_reverted: 'Read the detail; a new attempt takes a fresh Idempotency-Key.',
  rate_limited: 'Wait as long as Retry-After says, then repeat it, with the same Idempotency-Key where it had one.',
  request_header_fields_too_large: 'Send fewer or shorter headers.',
  not_implemented: 'Leave the transfer coding out, or use another method.',
  sandbox_starting: 'Wait as long as Retry-After says; GET /_sandbox/ready gives the reason.',
  invalid_client: 'Compare client_id and client_secret with GET /_sandbox/credentials.',
  invalid_scope: 'Ask for the scope that GET /_sandbox/credentials shows.',
  unsupported_grant_type: 'Send grant_type=client_credentials.',
  invalid_request: 'Send a form with grant_type, client_id, client_secret and scope, each of them once.',
}

/** Statuses that say nothing of what became of a request (docs/money.md). */
const OUTCOME_UNKNOWN = new Set([500, 502, 503, 504])

/** @returns true if the client cannot know what became of its request */
export function isUnanswered({ end, unread, response }: RecordedExchange): boolean {
  if (end === 'open') return false
  return end !== 'answered' || unread || response === null || OUTCOME_UNKNOWN.has(response.status)
}

/** What a right client does next, a sentence; undefined when there is nothing to be done. */
export function nextStep(exchange: RecordedExchange): string | undefined {
  const { response, refusal } = exchange
  const code = response?.code ?? refusal?.code ?? ''
  if (code === 'sandbox_starting') return STEPS.sandbox_starting
  if (isUnanswered(exchange)) return afterNoAnswer(exchange)
  if (!response || response.status < 400) return undefined
  if (code === 'invalid_user_token' && exchange.request.user_token === null) return SEND_USER_TOKEN
  const known = Object.hasOwn(STEPS, code) ? STEPS[code] : undefined
  return known ?? 'Do not repeat it unchanged.'
}

function afterNoAnswer({ operation, idempotency, request }: RecordedExchange): string {
  const moves = operation === 'deposit' || operation === 'withdraw'
  if (idempotency && moves) {
    return `${TAKE_KEY_AGAIN}, or look at the list of transactions first: another key could move the money twice.`
  }
  if (idempotency) return `${TAKE_KEY_AGAIN}: another one could do it twice.`
  return request.method === 'GET' || operation === 'token'
    ? 'Send it again.'
    : 'Look at what became of it, then send it again.'
}
