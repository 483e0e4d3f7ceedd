import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { ADDRESS, DECIMAL, NUMERIC, TIMESTAMP, TX_HASH } from '../helpers/patterns.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const create = async (poolId: string, more: Record<string, unknown> = {}) =>
  acme.post('end_users/alice/portfolios', { ...(await acme.portfolioBody(poolId, 'Savings')), ...more })
const listed = async (portfolioId: string) =>
  (await acme.get('end_users/alice/portfolios?limit=100')).body.data.find(
    ({ portfolio_id }: { portfolio_id: string }) => portfolio_id === portfolioId,
  )

describe('Pool', () => {
  test.each([
    ['pool_id', expect.stringMatching(/./)],
    ['protocol', expect.stringMatching(/^(aave|morpho)$/)],
    ['chain_id', expect.stringMatching(NUMERIC)],
    ['token_symbol', expect.stringMatching(/^(USDC|WETH)$/)],
    ['token_address', expect.stringMatching(ADDRESS)],
    ['market_address', expect.stringMatching(ADDRESS)],
    ['apy', expect.stringMatching(DECIMAL)],
    ['tvl_usd', expect.stringMatching(DECIMAL)],
  ])('Pool: %s', async (field, form) => {
    const { data } = (await acme.get('pools')).body
    expect(data.map((pool: Record<string, unknown>) => pool[field])).toEqual([form, form, form, form])
  })

  test('Pool: has the fields of the table and no other', async () => {
    const [pool] = (await acme.get('pools')).body.data
    expect(Object.keys(pool).sort()).toEqual(
      'apy chain_id market_address pool_id protocol token_address token_symbol tvl_usd'.split(' '),
    )
  })

  test('Pool: market_address is not the token address and creates a portfolio verbatim', async () => {
    for (const pool of (await acme.get('pools')).body.data) {
      expect(pool.market_address).not.toBe(pool.token_address)
      expect((await create(pool.pool_id)).body.market_address).toBe(pool.market_address)
    }
  })

  test('Pool: apy and tvl_usd are the market of the chain, not zero', async () => {
    const { data } = (await acme.get('pools')).body
    for (const { apy, tvl_usd } of data) {
      expect(Number(apy)).toBeGreaterThan(0.001)
      expect(Number(tvl_usd)).toBeGreaterThan(1_000)
    }
  })
})

describe('Portfolio, create-response shape', () => {
  test.each([
    ['portfolio_id', expect.stringMatching(/^jar_./)],
    ['name', 'Savings'],
    ['description', null],
    ['protocol', 'morpho'],
    ['chain_id', '31337'],
    ['token_address', expect.stringMatching(ADDRESS)],
    ['market_address', expect.stringMatching(ADDRESS)],
    ['token_symbol', 'WETH'],
    ['token_decimals', 18],
    ['deposited', '0'],
    ['yield_earned', '0'],
    ['yield_earned_realized', '0'],
    ['total_balance', '0'],
    ['compounding_enabled', true],
    ['created_at', expect.stringMatching(TIMESTAMP)],
    ['updated_at', expect.stringMatching(TIMESTAMP)],
  ])('Portfolio: %s', async (field, value) => {
    expect((await create('morpho-weth')).body[field]).toEqual(value)
  })

  test('Portfolio: is flat and has the fields of the table and no other', async () => {
    expect(Object.keys((await create('aave-usdc')).body).sort()).toEqual(
      [
        ...['chain_id', 'compounding_enabled', 'created_at', 'deposited', 'description', 'market_address', 'name'],
        ...['portfolio_id', 'protocol', 'token_address', 'token_decimals', 'token_symbol', 'total_balance'],
        ...['updated_at', 'yield_earned', 'yield_earned_realized'],
      ].sort(),
    )
  })

  test('Portfolio: description is what was supplied', async () => {
    expect((await create('aave-usdc', { description: 'For rain' })).body.description).toBe('For rain')
  })
})

describe('Portfolio, list shape', () => {
  test('Portfolio list item: nests symbol, address and decimals in token instead of the flat fields', async () => {
    const flat = (await create('aave-usdc')).body
    const item = await listed(flat.portfolio_id)
    expect(item.token).toEqual({
      symbol: flat.token_symbol,
      address: flat.token_address,
      decimals: flat.token_decimals,
    })
    for (const field of ['token_symbol', 'token_address', 'token_decimals']) expect(item).not.toHaveProperty(field)
  })

  test('Portfolio list item: describes the same data as the flat shape', async () => {
    const portfolio = await acme.open('alice', 'morpho-usdc')
    await sandbox.clock.freeze()
    const { tx_hash, transaction_id, token_symbol, token_address, token_decimals, ...flat } = (
      await acme.deposit('alice', portfolio, '123456789')
    ).body
    expect(await listed(portfolio)).toMatchObject(flat)
    await sandbox.clock.unfreeze()
    expect(flat.deposited).toBe('123456789')
  })
})

describe('Protocol values', () => {
  test('Protocol values 1: exactly two are accepted, lowercase', async () => {
    expect(outcome(await create('aave-usdc', { protocol: 'aave' }))).toBe('201')
    expect(outcome(await create('morpho-usdc', { protocol: 'morpho' }))).toBe('201')
    for (const protocol of ['compound', 'AAVE', 'Morpho', '']) {
      expect(outcome(await create('aave-usdc', { protocol }))).toBe('400 validation_error')
    }
  })

  test('Protocol values 2: the first is the default when the field is omitted', async () => {
    expect(await create('aave-usdc', { protocol: undefined })).toMatchObject({
      status: 201,
      body: { protocol: 'aave' },
    })
  })

  test('Protocol values 3: a pool of the second has a vault of its own as market', async () => {
    const { data } = (await acme.get('pools')).body
    const vaults = data.filter(({ protocol }: { protocol: string }) => protocol === 'morpho')
    expect(vaults.length).toBe(2)
    expect(new Set(vaults.map((pool: { market_address: string }) => pool.market_address)).size).toBe(2)
    for (const { market_address, token_address } of vaults) expect(market_address).not.toBe(token_address)
  })
})

describe('Other records', () => {
  test('End user: is identified by external_id within the tenant', async () => {
    const globex = new Partner(sandbox, 'globex')
    const [ours, theirs] = [
      await acme.post('end_users', { external_id: 'shared' }),
      await globex.post('end_users', { external_id: 'shared' }),
    ]
    expect([ours.body.external_id, theirs.body.external_id]).toEqual(['shared', 'shared'])
    expect(ours.body.id).not.toBe(theirs.body.id)
    await acme.open('shared')
    expect((await globex.get('end_users/shared/portfolios')).body.data).toEqual([])
  })

  test('Transaction: carries the tx_hash that deposit returned', async () => {
    const { tx_hash } = (await acme.deposit('alice', await acme.open('alice'), '1000')).body
    expect(tx_hash).toMatch(TX_HASH)
    expect((await acme.get('end_users/alice/transactions?limit=1')).body.data[0].tx_hash).toBe(tx_hash)
  })
})

describe('Paginated envelope', () => {
  test('Paginated envelope: data, has_more, next_cursor and prev_cursor on first, middle and last page', async () => {
    const page = async (query: string) => (await acme.get(`pools?limit=1${query}`)).body
    const first = await page('')
    expect(first).toEqual({
      data: [expect.objectContaining({ pool_id: 'aave-usdc' })],
      has_more: true,
      next_cursor: expect.any(String),
      prev_cursor: null,
    })
    const middle = await page(`&starting_after=${first.next_cursor}`)
    expect(middle).toMatchObject({ has_more: true, next_cursor: expect.any(String), prev_cursor: expect.any(String) })
    const third = await page(`&starting_after=${middle.next_cursor}`)
    const last = await page(`&starting_after=${third.next_cursor}`)
    expect(last).toEqual({
      data: [expect.objectContaining({ pool_id: 'morpho-weth' })],
      has_more: false,
      next_cursor: null,
      prev_cursor: expect.any(String),
    })
  })

  test('Paginated envelope: an empty collection is one page without cursors', async () => {
    await acme.post('end_users', { external_id: 'empty' })
    expect((await acme.get('end_users/empty/transactions')).body).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
      prev_cursor: null,
    })
  })
})
