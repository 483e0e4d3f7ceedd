import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

export const HOUR = 60 * 60 * 1000
const YEAR = 365 * 24 * HOUR
export const POOLS = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']
export const EMPTY = { deposited: '0', total_balance: '0' }

export let sandbox: SandboxHandle
let exact: SandboxHandle
export let acme: Partner
let other: Partner

/** Opens what a file's tests withdraw from, and stops it after them. */
export function openBoth(): void {
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
}

/** A new end user with a deposit of 1,000 whole tokens and seven minor units; how the deposit was answered. */
export async function funded(partner: Partner, user: string, poolId: string) {
  const portfolio = await partner.open(user, poolId)
  const amount = `1000${'0'.repeat(poolId.endsWith('usdc') ? 5 : 17)}7`
  const { body } = await partner.deposit(user, portfolio, amount)
  return { portfolio, amount, shown: body.total_balance as string }
}

export async function shownOf(partner: Partner, user: string, portfolio: string): Promise<string> {
  const { data } = (await partner.get(`end_users/${user}/portfolios?limit=100`)).body
  return data.find((item: { portfolio_id: string }) => item.portfolio_id === portfolio).total_balance
}

export async function movedLast(partner: Partner, user: string): Promise<string> {
  return (await partner.get(`end_users/${user}/transactions?limit=1`)).body.data[0].amount_changed
}

export async function emptiedAsListed(poolId: string): Promise<void> {
  for (const later of [1_000, 5_000, HOUR, YEAR]) {
    const { portfolio } = await funded(acme, 'lisa', poolId)
    await sandbox.clock.advance(HOUR)
    const shown = await shownOf(acme, 'lisa', portfolio)
    await sandbox.clock.advance(later)
    expect((await acme.withdraw('lisa', portfolio, shown)).body).toMatchObject(EMPTY)
    expect(BigInt(await movedLast(acme, 'lisa'))).toBeGreaterThan(BigInt(shown))
  }
}

/** Empties portfolios on these pools in other ways than {@link emptiedAsListed}. */
export function emptied(pools: readonly string[]): void {
  describe.each(pools)('%s', (poolId) => {
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
}
