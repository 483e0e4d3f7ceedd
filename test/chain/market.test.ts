import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DIRECTED, HALF_UP, RAY } from '../../src/chain/markets/protocols/aave.ts'
import { usd } from '../../src/chain/markets/protocols/protocol.ts'
import { Wallets } from '../../src/chain/wallets/wallet.ts'
import { alice, type ChainFixture, order, startChain } from './chain-fixture.ts'

describe('markets', () => {
  let fixture: ChainFixture
  beforeAll(async () => {
    fixture = await startChain()
    await fixture.fund(alice)
  })
  afterAll(() => fixture.chains.stop())

  it('reads a few percent of yield and the value locked of every pool from the chain', async () => {
    for (const name of ['aave USDC', 'aave WETH', 'vault USDC', 'vault WETH'] as const) {
      const { apy, tvl_usd, price_usd } = await fixture.chain.market(fixture.pool(name))
      expect(apy).toMatch(/^0\.\d{6}$/)
      expect(Number(apy)).toBeGreaterThan(0.001)
      expect(Number(apy)).toBeLessThan(0.2)
      expect(tvl_usd).toMatch(/^\d+\.\d{2}$/)
      expect(price_usd).toMatch(/^[1-9]\d*\.\d{2}$/)
      expect(Number(tvl_usd)).toBeGreaterThan(0)
    }
  })

  it('shows a deposit in the value locked at once', async () => {
    const pool = fixture.pool('vault USDC')
    const before = Number((await fixture.chain.market(pool)).tvl_usd)
    await fixture.chain.transfer(order('deposit', pool, 5_000_000_000n))
    expect(Number((await fixture.chain.market(pool)).tvl_usd)).toBeGreaterThanOrEqual(before + 4_999)
  })

  it('lets positions earn what the market promises, many of them in one answer', async () => {
    const { chain, clock } = fixture
    const pools = (['aave USDC', 'vault USDC'] as const).map(fixture.pool)
    const amount = 1_000_000_000_000n
    const deposits = await Promise.all(pools.map((pool) => chain.transfer(order('deposit', pool, amount))))
    const promised = await Promise.all(pools.map(async (pool) => Number((await chain.market(pool)).apy)))
    clock.advance(30 * 86_400_000)
    const values = await chain.values(deposits.map(({ shares }, index) => ({ pool: pools[index]!, shares })))
    for (const [index, value] of values.entries()) {
      const yearly = ((Number(value) / Number(amount) - 1) * 365) / 30
      expect(yearly / promised[index]!).toBeCloseTo(1, 1)
    }
  })
})

describe("Aave's arithmetic", () => {
  const shares = fc.bigInt({ min: 0n, max: 10n ** 40n })
  const index = fc.bigInt({ min: RAY, max: 100n * RAY })

  it.each([
    ['half up, before v3.5', HALF_UP],
    ["in the protocol's favour, from v3.5 on", DIRECTED],
  ])('gives the very shares back when their worth is withdrawn, whatever the index: %s', (_, { worth, burned }) => {
    fc.assert(fc.property(shares, index, (s, i) => burned(worth(s, i), i) === s))
  })

  it('takes no more shares for part of a position than it has, and never mints beyond what came in, from v3.5 on', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(shares, index, part, (s, i, fraction) => {
        const amount = (DIRECTED.worth(s, i) * BigInt(Math.round(fraction * 1e9))) / 10n ** 9n
        return DIRECTED.burned(amount, i) <= s && DIRECTED.worth(DIRECTED.minted(amount, i), i) <= amount
      }),
    )
  })

  it('writes dollars with two decimals', () => {
    expect(usd(1_500_000n, 6, 100_000_000n)).toBe('1.50')
    expect(usd(1n, 6, 100_000_000n)).toBe('0.00')
    expect(usd(2n * 10n ** 18n, 18, 2_000_50000000n)).toBe('4001.00')
  })
})

describe('wallets', () => {
  it('follow from seed, tenant and end user, and from nothing else', async () => {
    const [one, again, other] = [new Wallets(1), new Wallets(1), new Wallets(2)]
    await Promise.all([one, again, other].map((wallets) => wallets.load()))
    const address = (wallets: Wallets, tenant_id: string, external_id: string) =>
      wallets.of({ tenant_id, external_id }).address
    const alice = address(one, 'acme', 'alice')
    expect(address(again, 'acme', 'alice')).toBe(alice)
    const others = [address(other, 'acme', 'alice'), address(one, 'acm', 'ealice'), address(one, 'acme', 'bob')]
    expect(new Set([alice, ...others]).size).toBe(4)
  })
})
