import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { confirmed, mined } from '../helpers/confirmation.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace, testSandbox } from '../helpers/partner.ts'

const HOUR = 60 * 60 * 1000
const YEAR = 365 * 24 * HOUR
const POOLS = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']
const EMPTY = { deposited: '0', total_balance: '0' }

let sandbox: SandboxHandle
let exact: SandboxHandle
let acme: Partner
let other: Partner
beforeAll(async () => {
  ;[sandbox, exact] = await Promise.all([
    testNamespace(),
    sandboxWith((fixture) => {
      fixture.service = { full_withdrawal: 'exact' }
    }),
  ])
  for (const each of [sandbox, exact]) await each.clock.freeze()
  acme = new Partner(sandbox)
  other = new Partner(exact)
})
afterAll(() => Promise.all([sandbox, exact].map((each) => each.stop())))

/** A new end user with a deposit of 1,000 whole tokens and seven minor units; how the deposit was answered. */
async function funded(partner: Partner, user: string, poolId: string) {
  const portfolio = await partner.open(user, poolId)
  const amount = `1000${'0'.repeat(poolId.endsWith('usdc') ? 5 : 17)}7`
  const { body } = await partner.deposit(user, portfolio, amount)
  return { portfolio, amount, shown: body.total_balance as string }
}

async function shownOf(partner: Partner, user: string, portfolio: string): Promise<string> {
  const { data } = (await partner.get(`end_users/${user}/portfolios?limit=100`)).body
  return data.find((item: { portfolio_id: string }) => item.portfolio_id === portfolio).total_balance
}

async function movedLast(partner: Partner, user: string): Promise<string> {
  return (await partner.get(`end_users/${user}/transactions?limit=1`)).body.data[0].amount_changed
}

describe.each(POOLS)('%s', (poolId) => {
  test('Assumption withdraw-all: what a list showed empties the portfolio, whatever accrued since', async () => {
    for (const later of [1_000, 5_000, HOUR, YEAR]) {
      const { portfolio } = await funded(acme, 'lisa', poolId)
      await sandbox.clock.advance(HOUR)
      const shown = await shownOf(acme, 'lisa', portfolio)
      await sandbox.clock.advance(later)
      expect((await acme.withdraw('lisa', portfolio, shown)).body).toMatchObject(EMPTY)
      expect(BigInt(await movedLast(acme, 'lisa'))).toBeGreaterThan(BigInt(shown))
    }
  })

  test('Assumption withdraw-all: so does what a deposit or a withdrawal was answered with', async () => {
    const { portfolio, shown } = await funded(acme, 'dora', poolId)
    await sandbox.clock.advance(HOUR)
    expect((await acme.withdraw('dora', portfolio, shown)).body).toMatchObject(EMPTY)

    const second = await funded(acme, 'dora', poolId)
    await sandbox.clock.advance(HOUR)
    const { body } = await acme.withdraw('dora', second.portfolio, '123456')
    await sandbox.clock.advance(HOUR)
    expect((await acme.withdraw('dora', second.portfolio, body.total_balance)).body).toMatchObject(EMPTY)
  })

  test('Assumption withdraw-all: an amount within one minor unit of the worth leaves no dust', async () => {
    for (const difference of [-1n, 0n, 1n]) {
      const { portfolio } = await funded(acme, 'will', poolId)
      await sandbox.clock.advance(YEAR)
      const worth = BigInt(await shownOf(acme, 'will', portfolio))
      expect((await acme.withdraw('will', portfolio, String(worth + difference))).body).toMatchObject(EMPTY)
      expect(BigInt(await movedLast(acme, 'will'))).toBe(worth)
    }
  })

  test('Assumption withdraw-all: any other amount moves exactly that amount, the principal for one', async () => {
    const { portfolio, amount } = await funded(acme, 'wim', poolId)
    await sandbox.clock.advance(5_000)
    const worth = BigInt(await shownOf(acme, 'wim', portfolio))
    expect(worth).toBeGreaterThan(BigInt(amount) + 1n)
    for (const asked of [worth + 2n, worth * 2n]) {
      const answer = await acme.withdraw('wim', portfolio, String(asked))
      expect([outcome(answer), answer.body.param]).toEqual(['422 insufficient_balance', 'amount_minor'])
    }
    const { body } = await acme.withdraw('wim', portfolio, amount)
    expect(await movedLast(acme, 'wim')).toBe(amount)
    const left = BigInt(body.total_balance) - (worth - BigInt(amount))
    expect(left >= -1n && left <= 1n).toBe(true)
  })

  test('Assumption withdraw-all: so does what was shown before something else was', async () => {
    const { portfolio } = await funded(acme, 'eve', poolId)
    await sandbox.clock.advance(HOUR)
    const earlier = await shownOf(acme, 'eve', portfolio)
    await sandbox.clock.advance(HOUR)
    await shownOf(acme, 'eve', portfolio)
    const { body } = await acme.withdraw('eve', portfolio, earlier)
    expect(body.total_balance).not.toBe('0')
    expect(await movedLast(acme, 'eve')).toBe(earlier)
  })

  test('Assumption withdraw-all: exact, only the present worth empties the portfolio', async () => {
    for (const difference of [-1n, 1n, 0n]) {
      const { portfolio } = await funded(other, 'xena', poolId)
      const shown = await shownOf(other, 'xena', portfolio)
      await exact.clock.advance(HOUR)
      const { body } = await other.withdraw('xena', portfolio, shown)
      expect(body.total_balance).not.toBe('0')
      const worth = BigInt(body.total_balance)
      const last = await other.withdraw('xena', portfolio, String(worth + difference))
      if (difference > 0n) expect(outcome(last)).toBe('422 insufficient_balance')
      else expect(await movedLast(other, 'xena')).toBe(String(worth + difference))
      if (difference === 0n) expect(last.body).toMatchObject(EMPTY)
    }
  })
})

test('Assumption withdraw-all: a deposit makes what was shown before it just an amount, also one on its way', async () => {
  const { portfolio } = await funded(acme, 'otto', 'aave-usdc')
  const shown = await shownOf(acme, 'otto', portfolio)
  await acme.deposit('otto', portfolio, '500')
  const { body } = await acme.withdraw('otto', portfolio, shown)
  expect([await movedLast(acme, 'otto'), body.total_balance]).toEqual([shown, expect.stringMatching(/^(499|50[01])$/)])

  await using slow = await testSandbox({ confirmationDelay: '10s' })
  await slow.clock.freeze()
  const partner = new Partner(slow)
  const opened = await partner.open('quin')
  const { request: first } = await mined(slow, () => partner.deposit('quin', opened, '1000'))
  const { total_balance } = (await confirmed(slow, first)).body
  const { request: second } = await mined(slow, () => partner.deposit('quin', opened, '500'))
  const withdrawal = partner.withdraw('quin', opened, total_balance)
  await confirmed(slow, second)
  const queued = await confirmed(slow, withdrawal)
  expect(Number(queued.body.total_balance)).toBeGreaterThanOrEqual(499)
})

test('Assumption withdraw-all: a transfer that reverts outdates nothing', async () => {
  const { portfolio } = await funded(acme, 'rita', 'aave-usdc')
  await sandbox.clock.advance(HOUR)
  const shown = await shownOf(acme, 'rita', portfolio)
  for (const operation of ['deposit', 'withdraw'] as const) {
    const reverted = await acme[operation]('rita', portfolio, '500', { headers: { 'x-sandbox-fault': 'revert' } })
    expect(outcome(reverted)).toBe('422 transaction_reverted')
    await sandbox.clock.advance(HOUR)
  }
  expect((await acme.withdraw('rita', portfolio, shown)).body).toMatchObject(EMPTY)
})

test('Assumption withdraw-all: a replay shows nothing anew', async () => {
  const portfolio = await acme.open('rhea')
  const key = randomUUID()
  const { body } = await acme.deposit('rhea', portfolio, '1000000000', { key })
  await sandbox.clock.advance(HOUR)
  const shown = await shownOf(acme, 'rhea', portfolio)
  expect((await acme.deposit('rhea', portfolio, '1000000000', { key })).body).toEqual(body)
  await sandbox.clock.advance(HOUR)
  expect((await acme.withdraw('rhea', portfolio, shown)).body).toMatchObject(EMPTY)
})

test('Assumption withdraw-all: what counts is what was last shown when the withdrawal was asked for', async () => {
  const { portfolio } = await funded(acme, 'lars', 'morpho-weth')
  const lists = await Promise.all(Array.from({ length: 5 }, () => shownOf(acme, 'lars', portfolio)))
  const match = { operation: 'withdraw', external_id: 'lars' } as const
  await sandbox.faults.add({ kind: 'latency', phase: 'before_broadcast', match, with: { delay: '2h' } })
  const withdrawal = acme.withdraw('lars', portfolio, lists[0]!)
  await expect.poll(() => sandbox.faults.list()).toMatchObject([{ hits: 1 }])
  await sandbox.clock.advance(HOUR)
  expect(await shownOf(acme, 'lars', portfolio)).not.toBe(lists[0])
  await sandbox.clock.advance(HOUR)
  expect((await withdrawal).body).toMatchObject(EMPTY)
})

test('Assumption withdraw-all: everything of one portfolio is nothing of its neighbour', async () => {
  for (const poolId of POOLS) {
    const [first, second] = [await funded(acme, 'nina', poolId), await funded(acme, 'nina', poolId)]
    await sandbox.clock.advance(HOUR)
    const neighbour = await shownOf(acme, 'nina', second.portfolio)
    const shown = await shownOf(acme, 'nina', first.portfolio)
    expect((await acme.withdraw('nina', first.portfolio, shown)).body).toMatchObject(EMPTY)
    // A vault rounds a redemption down (ERC-4626), and the minor unit left behind belongs to those who stay.
    const gained = BigInt(await shownOf(acme, 'nina', second.portfolio)) - BigInt(neighbour)
    expect([0n, 1n]).toContain(gained)
  }
  expect(await (await fetch(`${sandbox.controlUrl}/audit`)).json()).toMatchObject({ ok: true })
})

test('Assumption withdraw-all: what was shown outlives a restart', async () => {
  const options = { dataDir: temporaryDirectory() }
  const amounts: string[] = []
  const jars: string[] = []
  {
    await using first = await testSandbox(options)
    const partner = new Partner(first)
    for (const poolId of POOLS) {
      const { portfolio, shown } = await funded(partner, 'rest', poolId)
      jars.push(portfolio)
      amounts.push(shown)
    }
    await first.clock.advance(HOUR)
    // The last one's deposit is all that showed it.
    const { data } = (await partner.get('end_users/rest/portfolios?limit=3')).body
    amounts.splice(0, 3, ...data.map((item: { total_balance: string }) => item.total_balance))
    await first.clock.advance(HOUR)
  }
  await using second = await testSandbox(options)
  const partner = new Partner(second)
  for (const [i, jar] of jars.entries()) {
    expect((await partner.withdraw('rest', jar, amounts[i]!)).body).toMatchObject(EMPTY)
  }
})
