import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { roundTrips } from './round-trips.ts'

const POOLS = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']
const USER = 'paula'
let sandbox: SandboxHandle
let acme: Partner
let portfolios: string[]

beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
  const open = async (pool: string) =>
    (await acme.post(`end_users/${USER}/portfolios`, await acme.portfolioBody(pool))).body.portfolio_id
  await acme.post('end_users', { external_id: USER })
  portfolios = await Promise.all(POOLS.flatMap((pool) => Array.from({ length: 25 }, () => open(pool))))
  await Promise.all(portfolios.map((portfolio, i) => acme.deposit(USER, portfolio, String(1_000_000 + i))))
})
afterAll(() => sandbox.stop())

test('100 funded portfolios on four pools are listed with one round trip to the chain', async () => {
  const list = async () => {
    const { data } = (await acme.get(`end_users/${USER}/portfolios?limit=100`)).body
    expect(data.filter((item: { deposited: string }) => BigInt(item.deposited) > 0n)).toHaveLength(100)
  }
  const count = await roundTrips(list, { times: 25 })
  expect(count).toBe(1)
})

test('deposits at once share their round trips, the balances in their answers included', async () => {
  const count = await roundTrips(() => Promise.all(portfolios.map((portfolio) => acme.deposit(USER, portfolio, '2'))))
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(portfolios.length)
})
