import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

const UNITS = { USDC: 1_000_000n, WETH: 10n ** 18n }

describe('transfers', () => {
  let fixture: ChainFixture
  beforeAll(async () => {
    fixture = await startChain()
    await fixture.fund(alice)
  })
  afterAll(() => fixture.chains.stop())

  for (const name of ['aave USDC', 'aave WETH', 'vault USDC', 'vault WETH'] as const) {
    it(`deposits, earns and withdraws to the last share: ${name}`, async () => {
      const { chain, clock } = fixture
      const pool = fixture.pool(name)
      const unit = UNITS[pool.token_symbol as keyof typeof UNITS]
      const before = await chain.walletBalance(alice, pool.token_address)

      const deposit = await chain.transfer(order('deposit', pool, 1_000n * unit))
      expect(deposit).toMatchObject({ status: 'success', amount: 1_000n * unit, value_before: 0n })
      expect(await chain.shares(alice, pool)).toBe(deposit.shares)
      expect(await chain.walletBalance(alice, pool.token_address)).toBe(before - 1_000n * unit)
      const receipt = await rpc<{ status: string; from: string }>(
        chain.rpc_url,
        'eth_getTransactionReceipt',
        deposit.tx_hash,
      )
      expect(receipt).toMatchObject({ status: '0x1', from: fixture.chains.walletAddress(alice).toLowerCase() })

      clock.advance(30 * 24 * 3_600_000)
      const [value] = await chain.values([{ pool, shares: deposit.shares }])
      expect(value).toBeGreaterThan(1_000n * unit)

      const part = await chain.transfer(order('withdrawal', pool, 400n * unit, { shares: deposit.shares }))
      expect(part).toMatchObject({ status: 'success', amount: 400n * unit })
      expect(part.value_before).toBeGreaterThanOrEqual(value!)
      expect(await chain.shares(alice, pool)).toBe(deposit.shares - part.shares)

      clock.advance(3_600_000)
      const rest = deposit.shares - part.shares
      const all = await chain.transfer(order('withdrawal', pool, 'all', { shares: rest }))
      expect(all).toMatchObject({ status: 'success', shares: rest, amount: all.value_before })
      expect(await chain.shares(alice, pool)).toBe(0n)
      expect(await chain.walletBalance(alice, pool.token_address)).toBe(before - 600n * unit + all.amount)
    })
  }
})
