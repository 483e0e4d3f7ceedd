import { beforeEach, expect, test } from 'vitest'
import { requirePool } from '../../src/domain/pools.ts'
import { poolOf } from '../../src/domain/portfolios.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { tenant } from '../auth/partner.ts'
import { portfolio } from '../store/samples.ts'

const acme = tenant({ jwks: { keys: [] } }, { tenant_id: 'acme' })
const TOKEN = '0x00000000000000000000000000000000000000Aa'
const MARKET = '0x00000000000000000000000000000000000000Bb'
const pool = {
  ...poolOf(portfolio('jar_1')),
  pool_id: 'wanted',
  token_address: TOKEN,
  market_address: MARKET,
} as const
const { chain_id, protocol } = pool
const wanted = { chain_id, protocol, token_address: TOKEN, market_address: MARKET }

let store: Store
beforeEach(async () => {
  store = await createStore()
  const others = [
    { ...pool, pool_id: 'other chain', chain_id: '1' },
    { ...pool, pool_id: 'other protocol', protocol: 'other' },
    { ...pool, pool_id: 'other token', token_address: MARKET },
    { ...pool, pool_id: 'other market', market_address: TOKEN },
    { ...pool, pool_id: 'of another tenant', tenant_id: 'globex', chain_id: '2' },
  ] as const
  await store.commit([...others, pool].map((put) => ({ collection: 'pools', put })))
})

test('a pool is found by its four names, addresses in any case', async () => {
  expect(await requirePool(store, acme, wanted)).toEqual(pool)
  const lower = { ...wanted, token_address: TOKEN.toLowerCase(), market_address: MARKET.toLowerCase() }
  expect(await requirePool(store, acme, lower)).toEqual(pool)
})

test.each<[string, Partial<typeof wanted>, RegExp]>([
  ['another chain', { chain_id: '3' }, /^No pool of the tenant/],
  ['a pool of another tenant', { chain_id: '2' }, /^No pool of the tenant/],
  ['another protocol', { protocol: 'third' }, /^No pool of the tenant/],
  ['another token', { token_address: `${TOKEN.slice(0, -1)}c` as typeof TOKEN }, /^No pool of the tenant/],
  ['another market', { market_address: `${MARKET.slice(0, -1)}c` as typeof MARKET }, /^No pool of the tenant/],
  [
    'the token address given as market address',
    { protocol: 'third', market_address: TOKEN.toLowerCase() as unknown as typeof MARKET },
    /^market_address is the token address/,
  ],
])('there is none of %s', async (_what, changes, detail) => {
  await expect(requirePool(store, acme, { ...wanted, ...changes })).rejects.toMatchObject({
    code: 'pool_not_found',
    details: { detail: expect.stringMatching(detail) },
  })
})
