import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { confirmed, mined } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace, testSandbox } from '../helpers/partner.ts'
import {
  acme,
  EMPTY,
  emptied,
  emptiedAsListed,
  funded,
  HOUR,
  movedLast,
  openBoth,
  POOLS,
  sandbox,
  shownOf,
} from './withdraw-all.ts'

openBoth()

// Each protocol, and each number of decimals. All four pools: assumptions-withdraw-all.long.test.ts.
const TWO = ['aave-usdc', 'morpho-weth']

describe.each(TWO)('%s', (poolId) => {
  test('Assumption withdraw-all: what a list showed empties the portfolio, whatever accrued since', () =>
    emptiedAsListed(poolId))
})

emptied(TWO)

test('Assumption withdraw-all: a deposit makes what was shown before it just an amount, also one on its way', async () => {
  const { portfolio } = await funded(acme, 'otto', 'aave-usdc')
  const shown = await shownOf(acme, 'otto', portfolio)
  await acme.deposit('otto', portfolio, '500')
  const { body } = await acme.withdraw('otto', portfolio, shown)
  expect([await movedLast(acme, 'otto'), body.total_balance]).toEqual([shown, expect.stringMatching(/^(499|50[01])$/)])

  await using slow = await testNamespace({ confirmationDelay: '10s' })
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
