import { type FidelityRow, section } from './row.ts'

/** The tests of each row: reached by a plain client, a string code, both headers. */
const REACHED = 'Errors: %s'

/** spec: Errors */
export const ERROR_ROWS: readonly FidelityRow[] = section('Errors', 'test/specification/errors.test.ts', [
  ['code', 'An error response carries a string field code.', REACHED],
  [
    'request identifier',
    'The version and the request identifier are response headers of errors too: clients send them to support.',
    REACHED,
  ],
  ['400 validation_error', 'A field of the create-portfolio body failed validation.', REACHED],
  ['400 conflicting_cursors', 'Both starting_after and ending_before were supplied.', REACHED],
  ['400 cursor_invalid', "The cursor's signature check failed.", REACHED],
  ['401 token_missing', 'There is no Authorization: Bearer header.', REACHED],
  [
    '401 invalid_idp_token',
    'The identity-provider token is expired, malformed or has an unexpected audience.',
    REACHED,
  ],
  ['401 unknown_partner', 'appid matches no registered tenant.', REACHED],
  ['401 invalid_user_token', 'X-User-Token failed signature verification or is expired.', REACHED],
  ['403 insufficient_role', 'The tenant has no access to the endpoint.', REACHED],
  ['403 sub_url_mismatch', 'The sub claim differs from external_id in the URL.', REACHED],
  ['404 end_user_not_found', 'No end user with that external_id exists in the tenant.', REACHED],
  ['410 cursor_expired', 'The cursor is older than 7 days.', REACHED],
  [
    '422 pool_not_found',
    'The tuple (chain_id, token_address, market_address, protocol) matches no pool of the tenant.',
    REACHED,
  ],
])
