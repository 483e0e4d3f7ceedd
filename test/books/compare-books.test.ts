import { describe, expect, test } from 'vitest'
import type { BooksTransfer } from '../../src/books/books.ts'
import { booked, LOST, list, PORTFOLIO, transfer } from '../oracle/story.ts'
import { exchange } from '../verdict/exchange.ts'
import { type Booked, findings, row } from './story.ts'

const lost = (key: string, at = 0) => transfer({ key, at, ...LOST })
const refused = (key: string) =>
  transfer({ key, response: { status: 422, code: 'transaction_reverted' }, idempotency: { key, use: 'first' } })
const putOff = (key: string) => transfer({ key, response: { status: 429, code: 'rate_limited' }, idempotency: null })

/** One deposit: what the client was told, and what the ledger has of it. */
const RUNS = {
  'done and told': { exchanges: [transfer({ key: 'a' })], booked: [booked('a')] },
  'done and found': { exchanges: [lost('a'), list(50, ['0xa'])], booked: [booked('a')] },
  'done and untold': { exchanges: [lost('a')], booked: [booked('a')] },
  'done and shown in passing': {
    exchanges: [lost('a'), transfer({ key: 'b', at: 50, amount: '1' }), list(100, ['0xa'])],
    booked: [booked('a')],
  },
  'not done and untold': { exchanges: [lost('a')] },
  'not done and refused': { exchanges: [refused('a')] },
  'not done and put off': { exchanges: [putOff('a')] },
  'never sent': { exchanges: [] },
} satisfies Record<string, Booked>

type RunName = keyof typeof RUNS
type State = BooksTransfer['state'] | 'no row'

const RIGHT = ''
const LAG = 'lag'
const WRONG = 'wrong'

describe('a row and what the ledger has of it', () => {
  // done, failed, open, no row
  const table: Record<RunName, [done: string, failed: string, open: string, none: string]> = {
    'done and told': [RIGHT, WRONG, LAG, WRONG],
    'done and found': [RIGHT, WRONG, LAG, WRONG],
    'done and untold': [RIGHT, WRONG, RIGHT, WRONG],
    'done and shown in passing': [RIGHT, WRONG, RIGHT, WRONG],
    'not done and untold': [WRONG, RIGHT, RIGHT, RIGHT],
    'not done and refused': [WRONG, RIGHT, LAG, RIGHT],
    'not done and put off': [WRONG, RIGHT, RIGHT, RIGHT],
    'never sent': [WRONG, RIGHT, RIGHT, RIGHT],
  }
  const cases = Object.entries(table).flatMap(([name, verdicts]) =>
    (['done', 'failed', 'open', 'no row'] as const).flatMap((state, i) =>
      [{}, { idempotency_key: 'A' }, { tx_hash: '0xA' }, { portfolio_id: 'jar_1' }].map(
        (how) => [name as RunName, state, Object.keys(how).at(-1) ?? 'amount', how, verdicts[i] ?? ''] as const,
      ),
    ),
  )
  test.each(cases)('%s, %s, by its %s', (name, state: State, _, how, verdict) => {
    const rows = state === 'no row' ? [] : [row({ state, ...(how as Partial<BooksTransfer>) })]
    expect(findings({ ...RUNS[name], rows }).map((finding) => finding.split(':')[0])).toEqual(verdict ? [verdict] : [])
  })
})

test('what is under way is not judged, whatever the books say', () => {
  const ledger = { transfers: [], under_way: [booked('a')], portfolios: [PORTFOLIO] }
  const run = { exchanges: [lost('a')], ledger }
  for (const state of ['done', 'failed', 'open'] as const) {
    expect(findings({ ...run, rows: [row({ state })] })).toEqual([])
    expect(findings({ ...run, rows: [row({ state, idempotency_key: 'a' })] })).toEqual([])
  }
  const balances = [{ external_id: 'alice', pool_id: 'aave-usdc', principal_minor: '7' }]
  expect(findings({ ...run, rows: [], balances })).toEqual([])
})

describe('each finding is a sentence', () => {
  const told = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')] }
  test.each<[string, Booked]>([
    ["wrong: alice's deposit of 250.00 USDC was carried out, and your books do not have it.", { ...told, rows: [] }],
    [
      "wrong: alice's deposit of 250.00 USDC was carried out, and it has failed in your books.",
      { ...told, rows: [row({ state: 'failed' })] },
    ],
    [
      "lag: alice's deposit of 250.00 USDC was carried out and your client was told, and it is still open in your books: they lag.",
      { ...told, rows: [row({ state: 'open' })] },
    ],
    [
      "lag: alice's deposit of 250.00 USDC was refused and your client was told, and it is still open in your books: they lag.",
      { exchanges: [refused('a')], rows: [row({ state: 'open' })] },
    ],
    [
      "wrong: alice's deposit of 250.00 USDC is done in your books, and it was not carried out.",
      { exchanges: [lost('a')], rows: [row()] },
    ],
    [
      "wrong: alice's withdrawal of 250.00 USDC is done in your books, and no such transfer was carried out.",
      { exchanges: [lost('a')], rows: [row({ type: 'withdraw' })] },
    ],
    [
      "wrong: alice's deposit of 250.00 USDC was carried out, and your books have it with 100.00 USDC.",
      { ...told, rows: [row({ idempotency_key: 'a', amount_minor: '100000000' })] },
    ],
    [
      "wrong: alice's deposit of 250.00 USDC was carried out in aave-usdc, and your books have it in vault-usdc.",
      { ...told, rows: [row({ tx_hash: '0xa', pool_id: 'vault-usdc' })] },
    ],
  ])('%s', (sentence, run) => {
    expect(findings(run)).toEqual([sentence])
  })
})

describe('rows are matched', () => {
  test('by key, so that two mistakes that cancel out are two', () => {
    const run = { exchanges: [transfer({ key: 'a' }), lost('b', 50)], booked: [booked('a')] }
    const rows = [row({ idempotency_key: 'a', state: 'failed' }), row({ idempotency_key: 'b' })]
    expect(findings({ ...run, rows })).toHaveLength(2)
    // Without keys nobody can know which is which.
    expect(findings({ ...run, rows: [row({ state: 'failed' }), row()] })).toEqual([])
  })

  test('by what they ask for where the order was sent again under another key', () => {
    const run = { exchanges: [lost('a'), transfer({ key: 'b', at: 50 })], booked: [booked('b')] }
    expect(findings({ ...run, rows: [row({ idempotency_key: 'a' })] })).toEqual([])
    expect(findings({ ...run, rows: [row({ idempotency_key: 'a' }), row({ idempotency_key: 'b' })] })).toEqual([
      "wrong: alice's deposit of 250.00 USDC is done in your books, and it was not carried out.",
    ])
  })

  test('by key though nothing came of it and the amount is another', () => {
    const rows = [row({ idempotency_key: 'a', amount_minor: '7' })]
    expect(findings({ exchanges: [lost('a')], rows })).toEqual([
      "wrong: alice's deposit of 250.00 USDC is done in your books, and it was not carried out.",
    ])
  })

  test('by key with what was carried out, also if the key came again with another body', () => {
    const refusal = { check: 'idempotency', code: 'idempotency_key_in_use_with_different_params' }
    const response = { status: 422, code: refusal.code }
    const mismatch = { ...transfer({ key: 'a', at: 50, amount: '7', response }), refusal: refusal as never }
    const run = { exchanges: [transfer({ key: 'a' }), mismatch], booked: [booked('a')] }
    expect(findings({ ...run, rows: [row({ idempotency_key: 'a' })] })).toEqual([])
    expect(findings({ ...run, rows: [row({ idempotency_key: 'a', amount_minor: '7' })] })).toHaveLength(1)
    const failed = row({ idempotency_key: 'a', amount_minor: '7', state: 'failed' })
    expect(findings({ ...run, rows: [row(), failed] })).toEqual([])
  })

  test('by key for each type: one key may be that of a deposit and of a withdrawal', () => {
    const exchanges = [transfer({ key: 'a' }), transfer({ key: 'a', at: 50, operation: 'withdraw' })]
    const run = { exchanges, booked: [booked('a'), booked('a', { type: 'withdraw', transaction_id: 'w' })] }
    const rows = [row({ idempotency_key: 'a', type: 'withdraw' }), row({ idempotency_key: 'a' })]
    expect(findings({ ...run, rows })).toEqual([])
    expect(findings({ ...run, rows: rows.slice(1) })).toHaveLength(1)
  })

  test('by the amount that was asked for, since a withdrawal of everything books another', () => {
    const exchanges = [
      transfer({ key: 'a', operation: 'withdraw', amount: '300000000' }),
      transfer({ key: 'b', operation: 'withdraw', amount: '250000000', at: 50 }),
    ]
    const both = [booked('a', { type: 'withdraw' }), booked('b', { type: 'withdraw' })]
    const asked = [row({ type: 'withdraw' }), row({ type: 'withdraw', amount_minor: '300000000' })]
    expect(findings({ exchanges, booked: both, rows: asked })).toEqual([])
    const carriedOut = [row({ type: 'withdraw' }), row({ type: 'withdraw' })]
    expect(findings({ exchanges, booked: both, rows: carriedOut })).toEqual([])
    expect(
      findings({ exchanges, booked: both, rows: [...asked.slice(1), row({ type: 'withdraw', amount_minor: '9' })] }),
    ).toHaveLength(2)
  })

  test('once each: two rows need two transfers, and two transfers two rows', () => {
    const once = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')] }
    expect(findings({ ...once, rows: [row(), row()] })).toHaveLength(1)
    const twice = {
      exchanges: [transfer({ key: 'a' }), transfer({ key: 'b', at: 50 })],
      booked: [booked('a'), booked('b')],
    }
    expect(findings({ ...twice, rows: [row()] })).toHaveLength(1)
    expect(findings({ ...twice, rows: [row(), row()] })).toEqual([])
  })

  test('a key that had expired and carried out two transfers needs two rows', () => {
    const run = { exchanges: [transfer({ key: 'a' }), transfer({ key: 'a', at: 50 })] }
    const both = [booked('a'), booked('a', { transaction_id: 'again', tx_hash: '0xb' })]
    expect(findings({ ...run, booked: both, rows: [row({ idempotency_key: 'a' })] })).toHaveLength(1)
    expect(findings({ ...run, booked: both, rows: [row({ idempotency_key: 'a' }), row()] })).toEqual([])
  })

  test('a key that had expired and carried out another body may have either', () => {
    const elsewhere = { ...PORTFOLIO, portfolio_id: 'jar_2', pool_id: 'vault-usdc' }
    const run = {
      exchanges: [transfer({ key: 'a' }), transfer({ key: 'a', at: 50, portfolio: 'jar_2' })],
      ledger: {
        transfers: [booked('a'), booked('a', { transaction_id: 'again', tx_hash: '0xb', portfolio_id: 'jar_2' })],
        under_way: [],
        portfolios: [PORTFOLIO, elsewhere],
      },
    }
    const there = row({ pool_id: 'vault-usdc' })
    expect(findings({ ...run, rows: [row(), there] })).toEqual([])
    expect(findings({ ...run, rows: [row(), { ...there, idempotency_key: 'a' }] })).toEqual([])
    const carriedOut = { ...there, idempotency_key: 'a', tx_hash: '0xb', state: 'failed' as const }
    expect(findings({ ...run, rows: [row(), carriedOut] })).toHaveLength(1)
  })

  test('in the right order: what is open takes what nobody was told of', () => {
    const run = { exchanges: [lost('a'), transfer({ key: 'b', at: 50 })], booked: [booked('a'), booked('b')] }
    expect(findings({ ...run, rows: [row({ state: 'open' }), row()] })).toEqual([])
    expect(findings({ ...run, rows: [row({ state: 'open' }), row({ state: 'open' })] })).toHaveLength(1)
  })

  test('by portfolio where they name it, else by pool', () => {
    const second = { ...PORTFOLIO, portfolio_id: 'jar_2' }
    const run = {
      exchanges: [transfer({ key: 'a' }), transfer({ key: 'b', portfolio: 'jar_2', at: 50 })],
      ledger: {
        transfers: [booked('a'), booked('b', { portfolio_id: 'jar_2' })],
        under_way: [],
        portfolios: [PORTFOLIO, second],
      },
    }
    const at = (portfolio_id: string) => row({ portfolio_id })
    expect(findings({ ...run, rows: [row(), at('jar_1')] })).toEqual([])
    expect(findings({ ...run, rows: [row(), row()] })).toEqual([])
    expect(findings({ ...run, rows: [at('jar_1'), at('jar_1')] })).toHaveLength(2)
  })

  const second = { ...PORTFOLIO, portfolio_id: 'jar_2' }
  const bothPlaces = {
    transfers: [booked('a'), booked('b', { portfolio_id: 'jar_2' })],
    under_way: [],
    portfolios: [PORTFOLIO, second],
  }

  test('so that a row leaves the transfer that only another one can stand for', () => {
    const [pool, portfolio] = [{ pool_id: 'aave-usdc' }, { portfolio_id: 'jar_1' }]
    const untold = [lost('a'), transfer({ key: 'b', portfolio: 'jar_2', at: 50, ...LOST })]
    const told = [transfer({ key: 'a' }), transfer({ key: 'b', portfolio: 'jar_2', at: 50 })]
    for (const [exchanges, first, last] of [
      [untold, row({ state: 'open', ...portfolio }), row(pool)],
      [untold, row({ state: 'open', ...pool }), row(portfolio)],
      [told, row(pool), row(portfolio)],
    ] as const) {
      expect(findings({ exchanges, ledger: bothPlaces, rows: [first, last] })).toEqual([])
      expect(findings({ exchanges, ledger: bothPlaces, rows: [last, first] })).toEqual([])
    }
    // Nobody was told of the one in jar_1, and the row that names jar_1 is done.
    const exchanges = [lost('a'), ...told.slice(1)]
    const lagging = [row({ state: 'open', ...pool }), row(portfolio)]
    expect(findings({ exchanges, ledger: bothPlaces, rows: lagging })).toEqual([expect.stringMatching(/^lag: /)])
  })

  test('so that an order that was never sent does not stand for the refusal of another one', () => {
    const rows = [row({ state: 'open' }), row({ state: 'failed' })]
    expect(findings({ exchanges: [refused('a')], rows })).toEqual([])
    expect(findings({ exchanges: [refused('a')], rows: rows.slice(0, 1) })).toHaveLength(1)
    // The failed one may be either; the open one names the place of the refusal.
    const elsewhere = transfer({ key: 'b', portfolio: 'jar_2', at: 50, ...LOST })
    const ledger = { ...bothPlaces, transfers: [] }
    const named = [row({ state: 'open', portfolio_id: 'jar_1' }), row({ state: 'failed' })]
    expect(findings({ exchanges: [elsewhere, refused('a')], ledger, rows: named })).toEqual([])
  })

  // Though they are ten thousand: any-books.long.test.ts.

  test('by tenant where they name it', () => {
    const run = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')] }
    expect(findings({ ...run, rows: [row({ tenant: 'acme' })] })).toEqual([])
    expect(findings({ ...run, rows: [row({ tenant: 'globex' })] })).toHaveLength(2)
  })

  test('portfolios that were made are no transfers', () => {
    const made = exchange({ operation: 'create_portfolio', idempotency: { key: 'p', use: 'first' } })
    expect(findings({ exchanges: [made], rows: [] })).toEqual([])
  })
})

describe('balances', () => {
  const told = { exchanges: [transfer({ key: 'a' })], booked: [booked('a')] }
  const balance = (principal_minor: string, parts: object = {}) => [
    { external_id: 'alice', pool_id: 'aave-usdc', principal_minor, ...parts },
  ]

  test.each<[string, string, Booked]>([
    ['are deposits less withdrawals', '', { ...told, balances: balance('250000000') }],
    [
      'without the fixture or another sum',
      "wrong: alice's balance in aave-usdc is 1,250.00 USDC in your books, and the transfers of this run come to 250.00 USDC.",
      { ...told, balances: balance('1250000000') },
    ],
    [
      'count as 0 where there is none',
      "wrong: alice's balance in aave-usdc is not in your books, and the transfers of this run come to 250.00 USDC.",
      { ...told, balances: [] },
    ],
    ['of nobody who moved money may be missing', '', { exchanges: [], balances: [] }],
    ['of nobody who moved money may be 0', '', { exchanges: [], balances: balance('0') }],
    [
      'of a portfolio',
      "wrong: alice's balance in jar_1 is 0.00 USDC in your books, and the transfers of this run come to 250.00 USDC.",
      { ...told, balances: balance('0', { pool_id: undefined, portfolio_id: 'jar_1' }) },
    ],
    [
      'below 0',
      '',
      {
        exchanges: [transfer({ key: 'w', operation: 'withdraw' })],
        booked: [booked('w', { type: 'withdraw' })],
        balances: balance('-250000000'),
      },
    ],
  ])('%s', (_, sentence, run) => {
    expect(findings(run)).toEqual(sentence ? [sentence] : [])
  })

  test('may have what is open beside them or not', () => {
    const run = { exchanges: [transfer({ key: 'a' }), lost('b', 50)], booked: [booked('a'), booked('b')] }
    const rows = [row({ idempotency_key: 'a' }), row({ idempotency_key: 'b', state: 'open' })]
    expect(findings({ ...run, rows, balances: balance('250000000') })).toEqual([])
    expect(findings({ ...run, rows, balances: balance('500000000') })).toEqual([])
    expect(findings({ ...run, rows, balances: balance('0') })).toHaveLength(1)
    // Without the row nothing is open.
    expect(findings({ ...run, balances: balance('250000000') })).toHaveLength(1)
  })

  test('may leave out either of two equal transfers in one pool, if a row that names the pool alone is open', () => {
    const run = {
      exchanges: [lost('a'), transfer({ key: 'b', portfolio: 'jar_2', at: 50, ...LOST })],
      ledger: {
        transfers: [booked('a'), booked('b', { portfolio_id: 'jar_2' })],
        under_way: [],
        portfolios: [PORTFOLIO, { ...PORTFOLIO, portfolio_id: 'jar_2' }],
      },
    }
    const of = (first: string, second: string) => [
      { external_id: 'alice', portfolio_id: 'jar_1', principal_minor: first },
      { external_id: 'alice', portfolio_id: 'jar_2', principal_minor: second },
    ]
    const rows = [row({ state: 'open' }), row()]
    expect(findings({ ...run, rows, balances: of('0', '250000000') })).toEqual([])
    expect(findings({ ...run, rows, balances: of('250000000', '0') })).toEqual([])
    expect(findings({ ...run, rows, balances: of('0', '1') })).toHaveLength(1)
    // Both are open, and both may be counted: neither transfer is left out twice.
    const open = [row({ state: 'open' }), row({ state: 'open' })]
    for (const right of ['0', '250000000', '500000000']) {
      expect(findings({ ...run, rows: open, balances: of(right, '250000000') })).toEqual([])
    }
    for (const wrong of ['-250000000', '750000000']) {
      expect(findings({ ...run, rows: open, balances: of(wrong, '250000000') })).toHaveLength(1)
    }
    // The client was told of the one that is left out: the books may lag, and are not wrong.
    const told = { ...run, exchanges: [transfer({ key: 'a' }), ...run.exchanges.slice(1)] }
    expect(findings({ ...told, rows, balances: of('0', '250000000') })).toEqual([])
    // A row that names the key is open for that transfer alone.
    const keyed = [row({ state: 'open', idempotency_key: 'a' }), row()]
    expect(findings({ ...run, rows: keyed, balances: of('250000000', '0') })).toHaveLength(1)
  })

  test('may have what was asked for and never carried out, as long as it is open', () => {
    const run = { exchanges: [lost('a')] }
    const rows = [row({ state: 'open' })]
    expect(findings({ ...run, rows, balances: balance('250000000') })).toEqual([])
    expect(findings({ ...run, rows, balances: balance('0') })).toEqual([])
    expect(findings({ ...run, rows: [row({ state: 'failed' })], balances: balance('250000000') })).toHaveLength(1)
  })

  test('of twelve open transfers may have any', () => {
    const keys = Array.from({ length: 12 }, (_, i) => `k${i}`)
    const amounts = keys.map((_, i) => String(2 ** i))
    const exchanges = keys
      .map((key, i) => lost(key, i * 50))
      .map((one, i) => ({ ...one, request: transfer({ key: 'x', amount: amounts[i]! }).request }))
    const rows = keys.map((idempotency_key, i) => row({ idempotency_key, amount_minor: amounts[i]!, state: 'open' }))
    expect(findings({ exchanges, rows, balances: balance('4095') })).toEqual([])
    expect(findings({ exchanges, rows, balances: balance('1234') })).toEqual([])
    expect(findings({ exchanges, rows, balances: balance('4096') })).toHaveLength(1)
  })

  test('of a pool are those of all portfolios without one of their own', () => {
    const second = { ...PORTFOLIO, portfolio_id: 'jar_2' }
    const run = {
      exchanges: [transfer({ key: 'a' }), transfer({ key: 'b', portfolio: 'jar_2', at: 50 })],
      ledger: {
        transfers: [booked('a'), booked('b', { portfolio_id: 'jar_2' })],
        under_way: [],
        portfolios: [PORTFOLIO, second],
      },
    }
    const own = balance('250000000', { pool_id: undefined, portfolio_id: 'jar_2' })
    expect(findings({ ...run, balances: balance('500000000') })).toEqual([])
    expect(findings({ ...run, balances: [...balance('250000000'), ...own] })).toEqual([])
    expect(findings({ ...run, balances: own })).toHaveLength(1)
  })
})
