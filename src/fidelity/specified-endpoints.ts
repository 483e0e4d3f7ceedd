import { type FidelityRow, section } from './row.ts'

const RESOURCES = 'test/specification/resources.test.ts'
const POOL = 'Pool: has the fields of the table and no other'
const FLAT = 'Portfolio: is flat and has the fields of the table and no other'
const ZERO = 'Endpoint 3: 201 with the flat portfolio, which is then in the list with zero funds'
const CREATED = { path: 'test/specification/endpoint-3-create-portfolio.test.ts' }
const LIMITS = { path: 'test/specification/limits.test.ts' }
const PAGES = 'Paginated envelope: data, has_more, next_cursor and prev_cursor on first, middle and last page'

/** spec: Resources and their fields */
export const RESOURCE_ROWS: readonly FidelityRow[] = [
  ...section('Pool', RESOURCES, [
    ['pool_id', 'A string, the identifier of the pool.', POOL],
    ['protocol', 'A string, one of the two protocol values.', POOL],
    ['chain_id', 'A numeric chain id in a string.', POOL],
    ['token_symbol', 'A string, the symbol of the underlying token.', POOL],
    ['token_address', 'An Ethereum address, that of the underlying ERC-20 token.', POOL],
    [
      'market_address',
      'An Ethereum address, that of the pool or vault contract, not of the token. It is passed verbatim when a portfolio is created.',
      'Pool: market_address is not the token address and creates a portfolio verbatim',
    ],
    [
      'apy',
      'The current APY, a decimal number in a string.',
      'Pool: apy and tvl_usd are the market of the chain, not zero',
    ],
    [
      'tvl_usd',
      'The total value locked in USD, a decimal number in a string.',
      'Pool: apy and tvl_usd are the market of the chain, not zero',
    ],
  ]),
  ...section('Portfolio', RESOURCES, [
    ['portfolio_id', 'A string that starts with jar_; the rest is opaque.', FLAT],
    ['name', '1 to 50 characters.', 'Limits: portfolio name 1 to 50 characters', LIMITS],
    [
      'description',
      'At most 500 characters; null when not supplied.',
      'Limits: portfolio description at most 500 characters',
      LIMITS,
    ],
    ['protocol', 'One of the two protocol values.', FLAT],
    ['chain_id', 'A numeric string.', FLAT],
    ['token_address', 'An Ethereum address.', FLAT],
    ['market_address', 'An Ethereum address.', FLAT],
    ['token_symbol', 'The symbol of the token.', FLAT],
    ['token_decimals', 'An integer, the decimals of the token.', FLAT],
    ['deposited', 'The amount deposited, a string; "0" at creation.', ZERO, CREATED],
    ['yield_earned', 'A string; "0" at creation.', ZERO, CREATED],
    ['yield_earned_realized', 'A string; "0" at creation.', ZERO, CREATED],
    ['total_balance', 'A string; "0" at creation.', ZERO, CREATED],
    ['compounding_enabled', 'A boolean, true on a newly created portfolio.', FLAT],
    ['created_at', 'An ISO 8601 UTC timestamp with milliseconds.', FLAT],
    ['updated_at', 'An ISO 8601 UTC timestamp with milliseconds.', FLAT],
    [
      'list shape',
      'List items have a nested token (symbol, address, decimals) instead of the three flat fields.',
      'Portfolio list item: nests symbol, address and decimals in token instead of the flat fields',
    ],
    [
      'both shapes',
      'The flat and the list shape describe the same data.',
      'Portfolio list item: describes the same data as the flat shape',
    ],
  ]),
  ...section('Protocol values', RESOURCES, [
    [
      '1',
      'Exactly two values are accepted, the lowercase names of two lending protocols.',
      'Protocol values 1: exactly two are accepted, lowercase',
    ],
    [
      '2',
      'The first is the default when the field is omitted.',
      'Protocol values 2: the first is the default when the field is omitted',
    ],
    [
      '3',
      'For the second, market_address is a vault contract that differs from token_address.',
      'Protocol values 3: a pool of the second has a vault of its own as market',
    ],
  ]),
  ...section('Other records', RESOURCES, [
    [
      'end user',
      'An end user is identified by the external_id the partner chose, within the tenant.',
      'End user: is identified by external_id within the tenant',
    ],
    [
      'transaction',
      'A transaction carries the tx_hash that deposit and withdraw return.',
      'Transaction: carries the tx_hash that deposit returned',
    ],
  ]),
  ...section('Paginated envelope', RESOURCES, [
    ['data', 'An array, the items on this page.', PAGES],
    ['has_more', 'True when more items exist beyond this page.', PAGES],
    ['next_cursor', 'A string, null on the last page.', PAGES],
    ['prev_cursor', 'A string, null on the first page.', PAGES],
  ]),
]

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
