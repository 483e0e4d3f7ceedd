import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usd } from '../../src/chain/protocols/figures.ts'
import { RAY, rayDiv, rayMul } from '../../src/chain/protocols/ray-math.ts'
import { Wallets } from '../../src/chain/wallets.ts'
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
      const { apy, tvl_usd } = await fixture.chain.market(fixture.pool(name))
      expect(apy).toMatch(/^0\.\d{6}$/)
      expect(Number(apy)).toBeGreaterThan(0.001)
      expect(Number(apy)).toBeLessThan(0.2)
      expect(tvl_usd).toMatch(/^\d+\.\d{2}$/)
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
  it('gives the very shares back when their worth is withdrawn, whatever the index', () => {
    const shares = fc.bigInt({ min: 0n, max: 10n ** 40n })
    const index = fc.bigInt({ min: RAY, max: 100n * RAY })
    fc.assert(fc.property(shares, index, (s, i) => rayDiv(rayMul(s, i), i) === s))
  })

  it('writes dollars with two decimals', () => {
    expect(usd(1_500_000n, 6, 100_000_000n)).toBe('1.50')
    expect(usd(1n, 6, 100_000_000n)).toBe('0.00')
    expect(usd(2n * 10n ** 18n, 18, 2_000_50000000n)).toBe('4001.00')
  })
})

describe('wallets', () => {
  it('follow from seed, tenant and end user, and from nothing else', () => {
    const address = (seed: number, tenant_id: string, external_id: string) =>
      new Wallets(seed).of({ tenant_id, external_id }).address
    expect(address(1, 'acme', 'alice')).toBe(address(1, 'acme', 'alice'))
    const others = [address(2, 'acme', 'alice'), address(1, 'acm', 'ealice'), address(1, 'acme', 'bob')]
    expect(new Set([address(1, 'acme', 'alice'), ...others]).size).toBe(4)
  })
})
