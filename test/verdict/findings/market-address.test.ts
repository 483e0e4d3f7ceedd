import { expect, test } from 'vitest'
import { marketAddress } from '../../../src/verdict/findings/market-address.ts'
import { evidenceOf } from '../evidence.ts'
import { type ExchangeParts, exchange } from '../exchange.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => marketAddress.judge(evidenceOf(exchanges))

const POOL = {
  chain_id: '8453',
  token_address: `0x${'Aa'.repeat(20)}`,
  market_address: `0x${'Bb'.repeat(20)}`,
  protocol: 'aave',
}
const pools = (...data: object[]) =>
  exchange({
    operation: 'list_pools',
    external_id: null,
    response: { body: JSON.stringify({ data, next_cursor: null }) },
  })
const create = (body: unknown, parts: ExchangeParts = {}) =>
  exchange({
    operation: 'create_portfolio',
    ...parts,
    request: { body: typeof body === 'string' ? body : JSON.stringify(body) },
  })
const wrong = { ...POOL, market_address: POOL.token_address.toUpperCase().replace('X', 'x') }

test('without a portfolio there is nothing to judge', () => {
  expect(judged(pools(POOL)).outcome).toBe('not_exercised')
  expect(judged(create('no JSON'), create('null'), create({ market_address: 5 })).outcome).toBe('not_exercised')
})

test('a pool of the list passes, in any spelling, and with the default protocol left out', () => {
  const { protocol: _, ...short } = POOL
  expect(
    judged(pools(POOL), create({ name: 'Rainy day', ...short, token_address: POOL.token_address.toLowerCase() }))
      .outcome,
  ).toBe('passed')
})

test("the token's address fails", () => {
  const asked = create(wrong)
  expect(judged(pools(POOL), asked)).toMatchObject({ outcome: 'failed', request_ids: [asked.request_id] })
})

test("the token's address once, among right ones, may be a test", () => {
  expect(judged(pools(POOL), create(POOL), create(wrong)).outcome).toBe('needs_review')
})

test('a pool that no list had shown may be fixed in the configuration', () => {
  expect(judged(create(POOL)).outcome).toBe('needs_review')
  expect(judged(create(POOL), pools(POOL)).outcome).toBe('needs_review')
  expect(judged(pools(POOL), create({ ...POOL, protocol: 'morpho' })).outcome).toBe('needs_review')
})

test('the list of another tenant does not count', () => {
  expect(judged(pools(POOL), create(POOL, { tenant: 'other' })).outcome).toBe('needs_review')
})
