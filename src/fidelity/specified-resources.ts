import { type FidelityRow, section } from './row.ts'

const RESOURCES = 'test/specification/resources.test.ts'
const POOL = 'Pool: has the fields of the table and no other'
const FLAT = 'Portfolio: is flat and has the fields of the table and no other'
const ZERO = 'Endpoint 3: 201 with the flat portfolio, which is then in the list with zero funds'
const CREATION = { path: 'test/specification/endpoint-3-create-portfolio.test.ts' }
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
    ['deposited', 'The amount deposited, a string; "0" at creation.', ZERO, CREATION],
    ['yield_earned', 'A string; "0" at creation.', ZERO, CREATION],
    ['yield_earned_realized', 'A string; "0" at creation.', ZERO, CREATION],
    ['total_balance', 'A string; "0" at creation.', ZERO, CREATION],
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
