import { type FidelityRow, section } from './row.ts'

const IN_ALL = { path: 'test/specification/endpoints.test.ts' }
const POOLS = 'test/specification/endpoint-1-list-pools.test.ts'
const CREATION = 'test/specification/endpoint-3-create-portfolio.test.ts'
const DEPOSIT = 'test/specification/endpoint-5-deposit.test.ts'
const WITHDRAWAL = 'test/specification/endpoint-6-withdraw.test.ts'
const TRANSACTIONS = 'test/specification/endpoint-7-list-transactions.test.ts'
const CREDENTIALS = 'answers with its credentials and no other'

/** spec: Endpoints, 1 and 2 */
const FIRST_ROWS: readonly FidelityRow[] = [
  ...section('Endpoints', IN_ALL.path, [
    [
      'paths',
      'Seven endpoints, every one under /v1/.',
      'Endpoints: /openapi.json describes exactly the seven endpoints under /v1/',
    ],
    ['headers', 'Responses carry the version header.', 'carries the version header'],
    [
      'unknown fields',
      'Clients ignore unknown response fields. It is up to the client; the fault unknown_fields tries it out.',
      'adds fields to every object of a good answer and changes none',
      { path: 'test/faults/answers.test.ts' },
    ],
    [
      'credentials',
      'Pools need Authorization, the other lists X-User-Token as well, create portfolio, deposit and withdraw also an Idempotency-Key.',
      CREDENTIALS,
    ],
  ]),
  ...section('Endpoint 1', POOLS, [
    [
      'GET /v1/partner/pools',
      'Lists the pools of the tenant: 200 with the paginated envelope of pools.',
      'Endpoint 1: 200 with the paginated envelope of pools',
    ],
    [
      'pools of the tenant',
      'Lists only the pools the calling tenant may use.',
      'Endpoint 1: lists only the pools the calling tenant may use',
    ],
    ['credentials', 'Needs the identity-provider token only.', 'Endpoint 1: needs no user token, and looks at none'],
    ['limit', 'The page size, 1 to 100, default 25.', 'Endpoint 1: limit is the page size, 1 to 100'],
    [
      'starting_after',
      'Pages forward from next_cursor of the previous page.',
      'Endpoint 1: starting_after takes next_cursor and pages forward',
    ],
    [
      'ending_before',
      'Pages backward from prev_cursor.',
      'Endpoint 1: ending_before takes prev_cursor and pages backward',
    ],
    [
      'both cursors',
      'starting_after and ending_before must not both be present.',
      'Endpoint 1: starting_after and ending_before must not both be present',
    ],
    ['errors', '401 token_missing, 401 invalid_idp_token, 401 unknown_partner.', 'Endpoint 1: 401 unknown_partner'],
    ['role', '403 insufficient_role.', 'Endpoint 1: 403 insufficient_role'],
  ]),
  ...section('Endpoint 2', 'test/specification/endpoint-2-create-end-user.test.ts', [
    [
      'POST /v1/partner/end_users',
      'The endpoint exists. All that is known of it is its path; what it does is the assumption create-end-user.',
      'Endpoint 2: exists, and the end user it makes can be worked with',
    ],
  ]),
]

/** spec: Endpoints, 3 and 4 */
const PORTFOLIO_ROWS: readonly FidelityRow[] = [
  ...section('Endpoint 3', CREATION, [
    [
      'POST /v1/partner/end_users/{external_id}/portfolios',
      'Creates a portfolio with zero funds: 201 with the flat portfolio.',
      'Endpoint 3: 201 with the flat portfolio, which is then in the list with zero funds',
    ],
    ['credentials', 'Authorization and X-User-Token are required.', CREDENTIALS, IN_ALL],
    [
      'Idempotency-Key',
      'Required: a UUID v4, fresh per logical attempt, reused when retrying.',
      'Endpoint 3, headers: Idempotency-Key is required, a UUID v4, reused when retrying',
    ],
    ['Content-Type', 'application/json is required.', 'Endpoint 3, headers: Content-Type is application/json'],
    [
      'body',
      'name (1 to 50 characters), chain_id, token_address and market_address are required; protocol and description (at most 500) are not.',
      'Endpoint 3: %s is accepted',
    ],
    [
      'rule 1',
      'A tuple (chain_id, token_address, market_address, protocol) that matches no pool of the tenant is 422 pool_not_found.',
      'Endpoint 3, rule 1: a tuple that matches no pool of the tenant is 422 pool_not_found',
    ],
    [
      'rule 2',
      'A body field that fails validation is 400 validation_error.',
      'Endpoint 3, rule 2: %s as %j is 400 validation_error',
    ],
    [
      'rule 3',
      'A sub that differs from external_id is 403 sub_url_mismatch.',
      'Endpoint 3, rule 3: a sub that differs from external_id is 403 sub_url_mismatch',
    ],
    [
      'rule 4',
      'An external_id that is no end user of the tenant is 404 end_user_not_found.',
      'Endpoint 3, rule 4: an unknown end user is 404 end_user_not_found',
    ],
    [
      'rule 5',
      'Authentication errors: 401 token_missing, 401 invalid_idp_token, 401 invalid_user_token.',
      'Endpoint 3, rule 5: 401 token_missing, 401 invalid_idp_token, 401 invalid_user_token',
    ],
    [
      'rule 6',
      'Passing token_address as market_address fails.',
      'Endpoint 3, rule 6: token_address passed as market_address fails (%s)',
    ],
  ]),
  ...section('Endpoint 4', 'test/specification/endpoint-4-list-portfolios.test.ts', [
    [
      'GET /v1/partner/end_users/{external_id}/portfolios',
      "Lists the end user's portfolios: 200 with the envelope, items in the list shape.",
      'Endpoint 4: 200 with the envelope and items in the list shape',
    ],
    ['limit', 'The page size, 1 to 100, default 25.', 'Endpoint 4: limit defaults to 25, maximum 100'],
    [
      'paging',
      'starting_after and ending_before as in endpoint 1.',
      'Endpoint 4: starting_after and ending_before page forward and backward',
    ],
    [
      'credentials',
      'Needs Authorization and X-User-Token.',
      'Endpoint 4: needs Authorization and X-User-Token of that end user',
    ],
  ]),
]

/** spec: Endpoints, 5 and 6: headers, body, response and rules are the same. */
const transferRows = (name: string, path: string): FidelityRow[] =>
  section(name, path, [
    [
      'headers',
      'Authorization, X-User-Token, Idempotency-Key and Content-Type application/json are required.',
      `${name}: headers Authorization, X-User-Token, Idempotency-Key and Content-Type are required`,
    ],
    ['portfolio_id', 'A string, required.', `${name}, body`],
    ['amount_minor', "Required: a digit string in the token's minor units.", `${name}, body`],
    [
      'tx_hash',
      'The response has the hash of the on-chain transaction.',
      `${name}: the response has tx_hash, a transaction of the wallet that succeeded on chain`,
    ],
    [
      'rule 1',
      'The connection is held until the transaction is confirmed.',
      `${name}, rule 1: the connection is held until the transaction is confirmed`,
    ],
    [
      'rule 2',
      'When the connection drops, the transaction is processed all the same and appears in the list.',
      `${name}, rule 2: when the connection drops, the transaction is processed and appears in the list`,
    ],
    [
      'rule 3',
      'The same Idempotency-Key after completion gives the cached response.',
      `${name}, rule 3: the same Idempotency-Key after completion gives the cached response`,
    ],
  ])

/** spec: Endpoints, 5 to 7 */
const TRANSFER_ROWS: readonly FidelityRow[] = [
  ...section('Endpoint 5', DEPOSIT, [
    [
      'POST /v1/partner/end_users/{external_id}/deposit',
      'amount_minor moves from the wallet into the portfolio.',
      'Endpoint 5: amount_minor moves from the wallet into the portfolio, in minor units of the token (%s)',
    ],
    [
      'balances',
      'The response carries the updated state and balances.',
      'Endpoint 5: the response carries the updated balances',
    ],
  ]),
  ...transferRows('Endpoint 5', DEPOSIT),
  ...section('Endpoint 6', WITHDRAWAL, [
    [
      'POST /v1/partner/end_users/{external_id}/withdraw',
      'amount_minor is withdrawn from the portfolio.',
      'Endpoint 6: amount_minor is withdrawn from the portfolio, into the wallet (%s)',
    ],
    ['response', "The response has deposit's shape.", "Endpoint 6: the response has deposit's shape"],
  ]),
  ...transferRows('Endpoint 6', WITHDRAWAL),
  ...section('Endpoint 7', TRANSACTIONS, [
    [
      'GET /v1/partner/end_users/{external_id}/transactions',
      "Lists the end user's transactions: 200 with the envelope.",
      "Endpoint 7: 200 with the envelope and the end user's transactions, by tx_hash",
    ],
    [
      'order',
      'Newest first: created_at descending, then id descending.',
      'Endpoint 7: newest first, created_at descending then id descending',
    ],
    ['limit', 'The page size, 1 to 100, default 25.', 'Endpoint 7: limit defaults to 25, maximum 100'],
    [
      'paging',
      'starting_after and ending_before as in endpoint 1.',
      'Endpoint 7: starting_after and ending_before page forward and backward',
    ],
    [
      'credentials',
      'Needs Authorization and X-User-Token.',
      'Endpoint 7: needs Authorization and X-User-Token of that end user',
    ],
  ]),
]

/** spec: Endpoints */
export const ENDPOINT_ROWS: readonly FidelityRow[] = [...FIRST_ROWS, ...PORTFOLIO_ROWS, ...TRANSFER_ROWS]
