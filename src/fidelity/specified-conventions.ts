import { type FidelityRow, section } from './row.ts'

const OVERVIEW = 'test/specification/overview.test.ts'
const VERSIONING = 'test/specification/versioning.test.ts'
const FAULTS = 'test/faults/answers.test.ts'

/** spec: What the service does, States and transitions, Events, Versioning */
export const OVERVIEW_ROWS: readonly FidelityRow[] = [
  ...section('What the service does', OVERVIEW, [
    [
      '1',
      'A partner lists pools, creates a portfolio for an end user on one of them, deposits into it and withdraws from it.',
      'What the service does 1: lists pools, creates a portfolio on one, moves funds in and out',
    ],
    [
      '2',
      'Deposits and withdrawals are synchronous: the connection stays open until the transaction is confirmed; the response has its hash.',
      'What the service does 2: the connection stays open until the transaction is confirmed; the answer has its hash',
    ],
    [
      '3',
      "Two credentials: the identity provider's access token in Authorization, and the JWT the partner mints in X-User-Token.",
      'What the service does 3: two credentials, Authorization and X-User-Token',
    ],
    [
      '4',
      'All paths are under /v1/, all bodies are JSON.',
      'What the service does 4: all paths are under /v1/, all bodies are JSON',
    ],
    [
      '5',
      'Collections are paged by cursors.',
      'Pagination 2: next_cursor as starting_after walks forward, prev_cursor as ending_before back',
      { path: 'test/specification/pagination.test.ts' },
    ],
    ['6', 'There are no webhooks or other pushed events.', 'What the service does 6: there are no webhooks'],
  ]),
  ...section('States and transitions', OVERVIEW, [
    [
      '1',
      'A new portfolio has zero deposited funds and is funded by the deposit operation.',
      'States and transitions 1: a new portfolio has zero deposited funds and is funded by a deposit',
    ],
    ['2', 'No record has a state or a status.', 'States and transitions 2: no record has a state or status'],
  ]),
  ...section('Events', OVERVIEW, [
    [
      '1',
      'No events are sent; there is no callback and no signature scheme.',
      'Events 1: no operation declares a callback, and none takes a callback address',
    ],
    [
      '2',
      'A client that loses the connection polls the transactions list.',
      'Events 2: a client that loses the connection finds the outcome in the transactions list',
    ],
  ]),
  ...section('Versioning', VERSIONING, [
    [
      '1',
      'The version is in the path prefix /v1/. There is no version request header.',
      'Versioning 1: there is no version request header',
    ],
    [
      '2',
      'Every response has a version header, 1.0.0, and a request identifier of its own. Both names hold the brand.',
      'Versioning 2: every response carries X-Service-Api-Version 1.0.0 and X-Service-Request-Id',
    ],
    [
      '3',
      'Within v1, optional fields, endpoints, error codes and query parameters may be added without notice; nothing is removed or renamed.',
      'adds fields to every object of a good answer and changes none',
      { path: FAULTS },
    ],
    [
      '4',
      'Breaking changes come with a /v2/ prefix. There is none yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent' },
    ],
    [
      '5',
      '/v1/ and /v2/ are served in parallel for at least 12 months. There is no /v2/ yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent' },
    ],
    [
      '6',
      'A deprecation is to be announced by headers (RFC 8594). None is: no response has Sunset or Deprecation, unless the fault deprecation adds them.',
      'announces in the forms of RFC 9745 and RFC 8594',
      { kind: 'absent', path: FAULTS },
    ],
    [
      '7',
      'Clients tolerate unknown response fields. It is up to the client; the fault unknown_fields tries it out.',
      'adds fields to every object of a good answer and changes none',
      { path: FAULTS },
    ],
  ]),
]

/** spec: Pagination rules, Limits */
export const PAGING_ROWS: readonly FidelityRow[] = [
  ...section('Pagination', 'test/specification/pagination.test.ts', [
    [
      '1',
      'Cursors are opaque base64url strings, signed with HMAC, valid for 7 days.',
      'Pagination 1: a cursor is valid for 7 days',
    ],
    [
      '2',
      'Forward: starting_after with next_cursor. Backward: ending_before with prev_cursor.',
      'Pagination 2: next_cursor as starting_after walks forward, prev_cursor as ending_before back',
    ],
    [
      '3',
      'The same cursor gives the same page; rows added after it was issued appear on later pages.',
      'Pagination 3: repeating a request with the same cursor returns the same page',
    ],
    [
      '4',
      'Both cursor parameters together give 400 conflicting_cursors.',
      'Pagination 4: both cursor parameters together give 400 conflicting_cursors',
    ],
    ['5', 'A tampered cursor gives 400 cursor_invalid.', 'Pagination 5: a tampered %s gives 400 cursor_invalid'],
    [
      '6',
      'An expired cursor gives 410 cursor_expired; the first page, fetched again, gives a fresh one.',
      'Pagination 6: an expired %s gives 410 cursor_expired',
    ],
  ]),
  ...section('Limits', 'test/specification/limits.test.ts', [
    ['page size', 'limit is 1 to 100, default 25.', 'Limits: page size 1 to 100 (%s)'],
    ['portfolio name', '1 to 50 characters.', 'Limits: portfolio name 1 to 50 characters'],
    ['portfolio description', 'At most 500 characters.', 'Limits: portfolio description at most 500 characters'],
    ['cursor lifetime', '7 days, on the sandbox clock.', 'Limits: cursor lifetime 7 days'],
    [
      'identity-provider token caching',
      'Until 60 seconds before expiry. It is up to the client; the fault short_lived_token tries it out.',
      'Identity-provider token 3: until its expiry a token may be used again and again',
      { path: 'test/specification/idp-token.test.ts' },
    ],
    [
      'deposit and withdraw duration',
      'Typically 5 to 30 seconds, with a client timeout of at least 60. The default here is 2 s; realistic gives 5 to 30.',
      'Limits: a deposit and a withdrawal take 5 to 30 seconds when confirmations are realistic',
      { kind: 'assumed', setting: 'options.confirmation_delay' },
    ],
    [
      'parallel serving of /v1/ and /v2/',
      'At least 12 months. There is no /v2/ yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent', path: 'test/specification/versioning.test.ts' },
    ],
  ]),
]

const KEYS = 'test/specification/idempotency-key.test.ts'

/** spec: Authentication */
export const TOKEN_ROWS: readonly FidelityRow[] = [
  ...section('Identity-provider token', 'test/specification/idp-token.test.ts', [
    [
      '1',
      'OAuth 2.0 client credentials grant: POST to the token address, content type application/x-www-form-urlencoded.',
      'Identity-provider token 1: a POST of a form gets a token that the service takes',
    ],
    [
      '2',
      'Form fields grant_type (client_credentials), client_id, client_secret and scope, which is the audience and /.default.',
      'Identity-provider token 2: the field %s is required and must be right',
    ],
    [
      '3',
      'The response has access_token and expires_in. Clients cache the token until 60 seconds before expiry.',
      'Identity-provider token 3: the response has access_token and expires_in, which is how long the token lives',
    ],
    [
      '4',
      'appid is mapped to a registered tenant; one that matches none is 401 unknown_partner.',
      'Identity-provider token 4: an unmatched appid is 401 unknown_partner',
    ],
    ['5', 'A missing bearer header is 401 token_missing.', 'Identity-provider token 5: %s is 401 token_missing'],
    [
      '6',
      'An expired or malformed token, or one of an unexpected audience, is 401 invalid_idp_token; the client refreshes and retries once.',
      'Identity-provider token 6: a token %s is 401 invalid_idp_token',
    ],
    [
      '7',
      'A tenant without access to an endpoint gets 403 insufficient_role.',
      'Identity-provider token 7: a tenant without access to an endpoint gets 403 insufficient_role',
    ],
  ]),
  ...section('User token', 'test/specification/user-token.test.ts', [
    [
      '1',
      'The partner mints it and signs it with its own private key, RS256.',
      'User token 1: a token the partner signs with its own private key using RS256 is taken',
    ],
    ['2', 'Header: alg RS256, kid, typ JWT.', 'User token 2: the header member %s as %j is refused'],
    [
      '3',
      'Claims sub (the external_id in the URL), iss (as registered), aud (the service audience), iat and exp.',
      'User token 3: the claim %s as %j is refused',
    ],
    [
      '4',
      'A failed signature check or an expired token is 401 invalid_user_token.',
      'User token 4: a failed signature check gives 401 invalid_user_token',
    ],
    [
      '5',
      'A sub that differs from external_id in the URL is 403 sub_url_mismatch.',
      'User token 5: a sub that differs from the URL gives 403 sub_url_mismatch on every user-scoped endpoint',
    ],
    [
      '6',
      'A partner registers its public key or issuer with the service; how is the assumption user-key.',
      "User token 1: another tenant's key is refused",
    ],
  ]),
  ...section('Idempotency-Key', KEYS, [
    ['required', 'A UUID v4, required on create portfolio, deposit and withdraw.', 'Idempotency-Key: is required'],
    [
      'retries',
      'The same key is reused when retrying the same logical operation.',
      'Idempotency-Key: reused when retrying the same operation, it happens once and is answered alike',
    ],
  ]),
]

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
