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
  const { market_address, token_address } = POOL
  const bodies = ['no JSON', 'null', { market_address: 5 }, { market_address }, { token_address }]
  for (const body of bodies) expect(judged(create(body)).outcome).toBe('not_exercised')
  expect(judged(create(POOL, { operation: 'deposit' })).outcome).toBe('not_exercised')
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
  expect(judged(pools(POOL), asked)).toMatchObject({
    outcome: 'failed',
    expected: 'market_address of the pool list',
    came: `"${POOL.token_address.toLowerCase()}", which is token_address`,
    request_ids: [asked.request_id],
  })
  expect(judged(pools(POOL), asked, create(wrong), create(wrong)).request_ids).toHaveLength(2)
})

test("the token's address once, among right ones, may be a test", () => {
  expect(judged(pools(POOL), create(POOL), create(wrong)).outcome).toBe('needs_review')
})

test('a pool that no list had shown may be fixed in the configuration', () => {
  const asked = create(POOL)
  expect(judged(asked)).toMatchObject({ outcome: 'needs_review', request_ids: [asked.request_id] })
  expect(judged(create(POOL), pools(POOL)).outcome).toBe('needs_review')
  expect(judged(pools(POOL), create({ ...POOL, protocol: 'morpho' })).outcome).toBe('needs_review')
})

test('the list of another tenant does not count', () => {
  expect(judged(pools(POOL), create(POOL, { tenant: 'other' })).outcome).toBe('needs_review')
})

test.each([
  ['another answer', { ...pools(POOL), operation: 'list_transactions' as const }],
  ['a list that was refused', otherPools({ status: 503 })],
  ['a list that was cut short', otherPools({ body_cut: true })],
  ['a list that was dropped', { ...pools(POOL), end: 'dropped' as const }],
  ['a list without an answer', { ...pools(POOL), response: null }],
  ['a list that is no JSON', otherPools({ body: 'not found' })],
  ['a list of nothing', otherPools({ body: '{"data":[null,5]}' })],
])('%s shows no pool', (_what, list) => {
  expect(judged(list, create(POOL)).outcome).toBe('needs_review')
})

function otherPools(response: object) {
  const right = pools(POOL)
  return { ...right, response: { ...right.response!, ...response } }
}

test('a right one is shown', () => {
  const asked = create(POOL)
  expect(judged(pools(POOL), asked)).toMatchObject({ outcome: 'passed', request_ids: [asked.request_id] })
})
