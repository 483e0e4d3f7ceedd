import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { EndUserMoney, MoneyOverview } from '../../src/control/contract.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { type OpenNamespace, openNamespace } from '../reliability/ledger.ts'

const DAY = 86_400_000
const START = '2026-01-05T10:00:00Z'
const LOST = { 'x-sandbox-fault': 'drop_connection; how=reset; phase=after_confirmation' }

let open: OpenNamespace

/** Opens a namespace for the tests of a group, which have end users of their own. */
function openOnce(): void {
  beforeAll(async () => {
    open = await openNamespace({ clock: START })
  })
  afterAll(() => open.stop())
}

const clock = () => open.sandbox.namespace.services.service.clock
const money = () => open.control.money()

/** The money of one end user. */
async function moneyOf(externalId: string): Promise<EndUserMoney> {
  const { end_users } = await open.control.money({ external_id: externalId })
  expect(end_users).toHaveLength(1)
  return end_users[0]!
}

async function first(externalId: string): Promise<EndUserMoney['portfolios'][number]> {
  return (await moneyOf(externalId)).portfolios[0]!
}

/** Sends a deposit or a withdrawal whose answer is lost, and the same again under another key. */
async function twice(way: 'deposit' | 'withdraw', user: string, portfolio: string, amount: string): Promise<void> {
  const [key, other] = [randomUUID(), randomUUID()]
  await expect(open.acme[way](user, portfolio, amount, { key, headers: LOST })).rejects.toThrow()
  expect((await open.acme[way](user, portfolio, amount, { key: other })).status).toBe(200)
}

/** Number of the last request on record. */
async function lastNumber(): Promise<number> {
  return (await open.control.requests({ limit: 1 })).data[0]?.number ?? 0
}

describe('end users', () => {
  openOnce()

  test('are shown with the wallet, and what the fixture deposited, which no operation did', async () => {
    const { at, end_users, more, checks, unavailable } = await money()
    expect(at).toBe('2026-01-05T10:00:00.000Z')
    expect(end_users.map(({ tenant, external_id }) => [tenant, external_id])).toEqual([
      ['acme', 'alice'],
      ['globex', 'bob'],
    ])
    expect({ more, checks, unavailable }).toEqual({ more: 0, checks: { held: 7, all: 7 }, unavailable: [] })
    const [alice] = end_users
    const { wallet_address } = (await open.acme.post('end_users', { external_id: 'alice' })).body
    expect(alice!.wallet_address).toBe(wallet_address)
    expect(alice!.balances.map(({ token_symbol, amount_minor }) => [token_symbol, amount_minor])).toEqual([
      ['USDC', '997500000000'],
      ['WETH', '1000000000000000000000000'],
    ])
    expect(alice!.surplus).toEqual([])
    const [portfolio] = alice!.portfolios
    expect(portfolio).toMatchObject({ name: 'Rainy day', pool_id: 'aave-usdc', principal_minor: '2500000000' })
    const principals = portfolio!.series.map(({ principal_minor }) => principal_minor)
    expect(principals).toEqual(['0', '0', '2500000000', '2500000000'])
    expect(portfolio!.series.map(({ operation_number }) => operation_number)).toEqual([null, null, null, null])
  })

  test('are shown by tenant and name, as many as are asked for; the number of the others is given', async () => {
    await open.acme.open('carol')
    const of = async (query: Parameters<typeof open.control.money>[0]) => {
      const { end_users, more } = await open.control.money(query)
      return [end_users.map(({ external_id }) => external_id), more]
    }
    expect(await of({ limit: 2 })).toEqual([['alice', 'carol'], 1])
    expect(await of({ tenant: 'globex' })).toEqual([['bob'], 0])
    expect(await of({ tenant: 'globex', external_id: 'alice' })).toEqual([[], 0])
    expect((await open.control.money({ checks: false })).checks).toBeNull()
  })

  test('are not shown by a wrong query, which is refused by the name of its parameter', async () => {
    const { name } = open.sandbox.namespace
    for (const [query, param] of [
      ['tenant=acne', 'tenant'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['points=3', 'points'],
      ['points=10001', 'points'],
      ['checks=no', 'checks'],
      ['external_id=', 'external_id'],
      ['user=alice', 'user'],
    ]) {
      const response = await fetch(`${open.sandbox.baseUrl}/_sandbox/namespaces/${name}/money?${query}`)
      expect([query, response.status]).toEqual([query, 400])
      expect(await response.json()).toMatchObject({ code: 'validation_error', param })
    }
  })

  test('of another namespace are not seen', async () => {
    const other = await openNamespace({ clock: START })
    await open.acme.open('dora')
    const names = async (one: OpenNamespace) => (await one.control.money()).end_users.map((user) => user.external_id)
    expect(await names(open)).toContain('dora')
    expect(await names(other)).not.toContain('dora')
    await other.stop()
  })
})

describe('principal and yield over time', () => {
  openOnce()

  test('a transfer is two points of one time and one yield; the last point is what the API shows', async () => {
    const jar = await open.acme.open('carol', 'morpho-usdc')
    clock().advance(DAY)
    await open.acme.deposit('carol', jar, '1000000000')
    const deposit = await lastNumber()
    clock().advance(30 * DAY)
    await open.acme.withdraw('carol', jar, '400000000')
    const withdrawal = await lastNumber()
    clock().advance(DAY)
    const { series, ...portfolio } = await first('carol')
    expect(series.map(({ at, operation_number }) => [at.slice(0, 10), operation_number])).toEqual([
      ['2026-01-05', null],
      ['2026-01-06', deposit],
      ['2026-01-06', deposit],
      ['2026-02-05', withdrawal],
      ['2026-02-05', withdrawal],
      ['2026-02-06', null],
    ])
    const [, , paidIn, before, after, present] = series
    expect([paidIn!.principal_minor, paidIn!.yield_minor]).toEqual(['1000000000', '0'])
    expect(before!.principal_minor).toBe('1000000000')
    expect(Number(before!.yield_minor)).toBeGreaterThan(1_000_000)
    expect(after!.yield_minor).toBe(before!.yield_minor)
    expect(Number(after!.principal_minor)).toBeLessThan(600_000_000 + 3_000_000)
    const [listed] = (await open.acme.get('end_users/carol/portfolios')).body.data
    expect(present).toMatchObject({ principal_minor: listed.deposited, yield_minor: listed.yield_earned })
    expect(portfolio).toMatchObject({
      principal_minor: listed.deposited,
      yield_minor: listed.yield_earned,
      balance_minor: listed.total_balance,
      apy: (await open.acme.pool('morpho-usdc')).apy,
    })
  })

  test.each(['aave-usdc', 'morpho-usdc'])(
    'the line between two points is right to a thousandth of the yield, while others use the market: %s',
    async (pool) => {
      const [user, other] = [`user-${pool}`, `other-${pool}`]
      const [jar, others] = [await open.acme.open(user, pool), await open.acme.open(other, pool)]
      await open.acme.deposit(user, jar, '1000000000')
      const middle: number[] = []
      for (let day = 5; day <= 30; day += 5) {
        clock().advance(5 * DAY)
        await open.acme.deposit(other, others, '1000000')
        middle.push(Number((await first(user)).yield_minor))
      }
      await open.acme.deposit(user, jar, '1')
      const { series } = await first(user)
      const end = Number(series.at(-1)!.yield_minor)
      for (const [i, seen] of middle.entries()) expect(Math.abs(seen - (end * (i + 1)) / 6)).toBeLessThan(end / 1000)
    },
  )

  test('of more transfers than points allow, evenly chosen ones are shown, the last one always', async () => {
    const jar = await open.acme.open('many')
    for (let i = 0; i < 9; i++) await open.acme.deposit('many', jar, '1000000')
    const principals = async (points: number) => {
      const [many] = (await open.control.money({ external_id: 'many', points })).end_users
      return many!.portfolios[0]!.series.map(({ principal_minor }) => Number(principal_minor) / 1e6)
    }
    expect(await principals(4)).toEqual([0, 8, 9, 9])
    expect(await principals(8)).toEqual([0, 2, 3, 5, 6, 8, 9, 9])
    expect(await principals(500)).toHaveLength(20)
  })

  test('whatever end users do, the points join, and agree with API, ledger and audit', async () => {
    const random = new SeededRandom(11)
    const jars = new Map<string, string>()
    for (const user of ['fred', 'greta', 'heidi']) {
      for (const pool of ['aave-usdc', 'morpho-usdc']) jars.set(await open.acme.open(user, pool), user)
    }
    for (let i = 0; i < 36; i++) {
      const [jar, user] = [...jars][Math.floor(random.next('jar') * jars.size)]!
      const amount = String(1 + Math.floor(random.next('amount') * 5_000_000))
      await open.acme[random.next('way') < 0.6 ? 'deposit' : 'withdraw'](user, jar, amount)
      clock().advance(random.next('time') * 20 * DAY)
    }
    const { end_users, checks } = await money()
    expect(checks).toEqual({ held: 7, all: 7 })
    for (const { external_id, portfolios } of end_users.filter(({ tenant }) => tenant === 'acme')) {
      const listed = (await open.acme.get(`end_users/${external_id}/portfolios`)).body.data
      for (const { portfolio_id, series } of portfolios) {
        const shown = listed.find((one: { portfolio_id: string }) => one.portfolio_id === portfolio_id)
        expect(series.at(-1)).toMatchObject({ principal_minor: shown.deposited, yield_minor: shown.yield_earned })
        for (let i = 1; i < series.length; i++) {
          const [before, point] = [series[i - 1]!, series[i]!]
          expect(point.at >= before.at).toBe(true)
          expect(Number(point.yield_minor)).toBeGreaterThanOrEqual(Number(before.yield_minor) - 1)
          if (i % 2 === 1) expect(point.principal_minor).toBe(before.principal_minor)
        }
      }
    }
  })
})

describe('surplus', () => {
  openOnce()

  test('is what a deposit under a second key moved again, and names the first one alone', async () => {
    const jar = await open.acme.open('carol')
    const before = await lastNumber()
    await twice('deposit', 'carol', jar, '250000000')
    const { surplus, portfolios } = await moneyOf('carol')
    const one = { token_symbol: 'USDC', token_decimals: 6, amount_minor: '250000000', operation_numbers: [before + 1] }
    expect(surplus).toEqual([one])
    const shown = async () => (await open.control.operations()).operations.find(({ number }) => number === before + 1)
    await expect.poll(shown).toMatchObject({ outcome: 'Paid twice', external_id: 'carol' })
    const numbers = portfolios[0]!.series.map(({ operation_number }) => operation_number)
    expect(numbers).toEqual([null, before + 1, before + 1, before + 1, before + 1, null])
    expect((await moneyOf('alice')).surplus).toEqual([])
  })

  test('counts each repetition once, adds up by token, and is below zero for what was taken out twice', async () => {
    const [usdc, weth] = [await open.acme.open('dave'), await open.acme.open('dave', 'morpho-weth')]
    const keys = Array.from({ length: 3 }, () => randomUUID())
    for (const key of keys.slice(0, 2)) {
      await expect(open.acme.deposit('dave', usdc, '70', { key, headers: LOST })).rejects.toThrow()
    }
    await open.acme.deposit('dave', usdc, '70', { key: keys[2]! })
    await twice('deposit', 'dave', usdc, '30')
    await open.acme.deposit('dave', weth, '1000000000000')
    await twice('withdraw', 'dave', weth, '2000')
    const { surplus } = await moneyOf('dave')
    expect(surplus.map(({ token_symbol, amount_minor }) => [token_symbol, amount_minor])).toEqual([
      ['USDC', '170'],
      ['WETH', '-2000'],
    ])
    expect(surplus[0]!.operation_numbers).toHaveLength(2)
  })

  test('is none for a retry under the same key, for two orders of one amount, and for what was put right', async () => {
    const jar = await open.acme.open('erin')
    const key = randomUUID()
    await expect(open.acme.deposit('erin', jar, '50', { key, headers: LOST })).rejects.toThrow()
    expect((await open.acme.deposit('erin', jar, '50', { key })).status).toBe(200)
    await open.acme.deposit('erin', jar, '60')
    await open.acme.deposit('erin', jar, '60')
    await twice('deposit', 'erin', jar, '90')
    expect((await moneyOf('erin')).surplus).toMatchObject([{ amount_minor: '90' }])
    await open.acme.withdraw('erin', jar, '90')
    expect((await moneyOf('erin')).surplus).toEqual([])
  })

  test('is what a key moved again when it had expired', async () => {
    const jar = await open.acme.open('frank')
    const key = randomUUID()
    for (let i = 0; i < 2; i++) {
      expect((await open.acme.deposit('frank', jar, '40', { key })).status).toBe(200)
      clock().advance(2 * DAY)
    }
    expect((await moneyOf('frank')).surplus).toMatchObject([{ amount_minor: '40' }])
  })
})

describe('pools', () => {
  openOnce()

  const pool = ({ pools }: MoneyOverview, id: string) =>
    pools.find(({ tenant, pool_id }) => tenant === 'acme' && pool_id === id)!

  test('of every tenant are shown with yield, worth, and tokens that can be withdrawn', async () => {
    const jar = await open.acme.open('carol', 'morpho-usdc')
    await open.acme.deposit('carol', jar, '5000000')
    clock().advance(30 * DAY)
    const overview = await money()
    expect(overview.pools.filter(({ tenant }) => tenant === 'globex')).toHaveLength(4)
    for (const { pool_id, apy, tvl_usd } of overview.pools.filter(({ tenant }) => tenant === 'acme')) {
      expect({ apy, tvl_usd }).toMatchObject(await shownPool(pool_id))
    }
    const { balance_minor } = (await moneyOf('carol')).portfolios[0]!
    expect(Number(balance_minor)).toBeGreaterThan(5_000_000)
    expect(Number(pool(overview, 'morpho-usdc').liquidity_minor)).toBeGreaterThanOrEqual(Number(balance_minor))
    expect(Number(pool(overview, 'aave-usdc').liquidity_minor)).toBeGreaterThan(2_500_000_000)
  })

  const shownPool = async (id: string) => {
    const { apy, tvl_usd } = await open.acme.pool(id)
    return { apy, tvl_usd }
  }

  test.each(['aave-usdc', 'morpho-usdc'])('without liquidity can pay nothing: %s', async (id) => {
    const jar = await open.acme.open(`user-${id}`, id)
    await open.acme.deposit(`user-${id}`, jar, '5000000')
    await open.control.addFaults([{ kind: 'illiquid_pool', with: { pool: id } }])
    expect((await open.acme.withdraw(`user-${id}`, jar, '4000000')).body.code).toBe('transaction_reverted')
    expect(Number(pool(await money(), id).liquidity_minor)).toBeLessThan(100)
    await open.control.clearFaults()
    await expect.poll(async () => Number(pool(await money(), id).liquidity_minor)).toBeGreaterThan(4_000_000)
  })
})

test('while its chain is down, the ledger is shown, and why the rest is missing', async () => {
  open = await openNamespace({ clock: START })
  onTestFinished(() => open.stop())
  const jar = await open.acme.open('carol')
  await open.acme.deposit('carol', jar, '1000000')
  clock().advance(DAY)
  await open.acme.deposit('carol', jar, '1000000')
  await open.control.addFaults([{ kind: 'chain_down' }])
  expect((await open.acme.deposit('carol', jar, '1000000')).status).toBe(503)
  expect((await money()).unavailable).toEqual([{ chain_id: '31337', reason: 'paused by a fault' }])
  const { checks, pools } = await money()
  expect(checks).toBeNull()
  expect(new Set(pools.map(({ apy }) => apy))).toEqual(new Set([null]))
  const { balances, portfolios } = await moneyOf('carol')
  expect(balances.map(({ amount_minor }) => amount_minor)).toEqual([null, null])
  expect(portfolios[0]).toMatchObject({ principal_minor: '2000000', yield_minor: null, balance_minor: null, apy: null })
  expect(portfolios[0]!.series.map(({ principal_minor }) => principal_minor)).toEqual([
    '0',
    '0',
    '1000000',
    '1000000',
    '2000000',
  ])
})
