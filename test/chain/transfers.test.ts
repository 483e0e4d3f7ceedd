import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WalletOwner } from '../../src/domain/ports/chain.ts'
import { eventually } from '../helpers/eventually.ts'
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
      const receipt = await rpc<{ status: string; from: string }>(chain, 'eth_getTransactionReceipt', deposit.tx_hash)
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

  it('keeps two positions of one wallet in one market apart, each exact to the last share', async () => {
    const { chain, clock } = fixture
    for (const pool of [fixture.pool('aave USDC'), fixture.pool('vault WETH')]) {
      const held = await chain.shares(alice, pool)
      const first = await chain.transfer(order('deposit', pool, 1_000_000_007n))
      clock.advance(86_400_000)
      const second = await chain.transfer(order('deposit', pool, 333_333_333n))
      clock.advance(86_400_000)
      const gone = await chain.transfer(order('withdrawal', pool, 'all', { shares: first.shares }))
      expect(gone).toMatchObject({ status: 'success', shares: first.shares })
      expect(gone.amount).toBeGreaterThan(1_000_000_007n)
      expect((await chain.shares(alice, pool)) - held).toBe(second.shares)
      const rest = await chain.transfer(order('withdrawal', pool, 'all', { shares: second.shares }))
      expect(rest).toMatchObject({ status: 'success', shares: second.shares })
      expect((await chain.shares(alice, pool)) - held).toBe(0n)
    }
  })

  it('withdraws two positions of one wallet in one block', async () => {
    const { chain, clock } = fixture
    const pool = fixture.pool('aave USDC')
    const held = await chain.shares(alice, pool)
    const deposits = await Promise.all([1_234_567n, 7_654_321n].map((n) => chain.transfer(order('deposit', pool, n))))
    clock.advance(77_000_000)
    const gone = await Promise.all(
      deposits.map(({ shares }) => chain.transfer(order('withdrawal', pool, 'all', { shares }))),
    )
    expect(gone.map(({ shares }) => shares)).toEqual(deposits.map(({ shares }) => shares))
    expect(new Set(gone.map(({ block_number }) => block_number)).size).toBe(1)
    expect((await chain.shares(alice, pool)) - held).toBe(0n)
  })

  it('refuses an overdraft, within a block too, with nothing signed, and lets the next transfer through', async () => {
    const { chain } = fixture
    const bob: WalletOwner = { tenant_id: 'acme', external_id: 'bob' }
    await fixture.fund(bob, 100n)
    const pool = fixture.pool('vault USDC')
    const orders = [60n, 60n, 40n].map((amount) => order('deposit', pool, amount, { owner: bob }))
    const results = await Promise.allSettled(orders.map((each) => chain.transfer(each)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(orders.map(({ seen }) => seen.signed.length)).toEqual([1, 0, 1])
    expect(orders[1]?.seen.facts).toEqual([{ wallet_balance: 40n, position_value: 0n, worthless: false }])
    expect(await chain.walletBalance(bob, pool.token_address)).toBe(0n)
  })

  it('drops all transfers of a block if they could not be stored, and their nonces are used by the next', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    const before = await chain.walletBalance(alice, pool.token_address)
    const sent: string[] = []
    const rest = {
      storeSigned: () => Promise.reject(new Error('disk full')),
      broadcast: () => sent.push('a transfer that is not stored'),
    }
    const lost = await Promise.allSettled(
      [5_000n, 6_000n].map((amount) => chain.transfer(order('deposit', pool, amount, rest))),
    )
    for (const each of lost) expect(each).toEqual({ status: 'rejected', reason: new Error('disk full') })
    expect([sent, await rpc(chain, 'txpool_status')]).toEqual([[], { pending: '0x0', queued: '0x0' }])
    const kept = await Promise.all([70_000n, 1n].map((amount) => chain.transfer(order('deposit', pool, amount))))
    for (const each of kept) expect(each).toMatchObject({ status: 'success' })
    expect(await chain.walletBalance(alice, pool.token_address)).toBe(before - 70_001n)
  })

  it('reports a revert with its hash, and moves nothing', async () => {
    const { chain, market } = fixture
    const pool = fixture.pool('aave USDC')
    const carol: WalletOwner = { tenant_id: 'acme', external_id: 'carol' }
    await chain.fundWallet(carol, [{ token_address: pool.token_address, amount: 500n, spenders: [] }])
    const mined = await chain.transfer(order('deposit', pool, 500n, { owner: carol }))
    expect(mined).toMatchObject({ status: 'reverted', amount: 500n, shares: 0n })
    expect(await rpc(chain, 'eth_getTransactionReceipt', mined.tx_hash)).toMatchObject({ status: '0x0' })
    expect(await chain.walletBalance(carol, market.tokens.USDC!.address)).toBe(500n)
  })

  it('fails only the transfer of a market that cannot be read', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    const broken = { ...pool, market_address: pool.token_address }
    const [bad, good] = await Promise.allSettled([
      chain.transfer(order('deposit', broken, 1_000n)),
      chain.transfer(order('deposit', pool, 1_000n)),
    ])
    expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled'])
  })

  it('carries 200 concurrent deposits of 50 wallets in a few blocks', async () => {
    const { chain } = fixture
    const owners = Array.from({ length: 50 }, (_, i) => ({ tenant_id: 'acme', external_id: `user-${i}` }))
    await Promise.all(owners.map((owner) => fixture.fund(owner)))
    const pools = (['aave USDC', 'vault USDC', 'aave WETH', 'vault WETH'] as const).map(fixture.pool)
    const mined = await Promise.all(
      owners.flatMap((owner) => pools.map((pool) => chain.transfer(order('deposit', pool, 1_000_000n, { owner })))),
    )
    expect(mined.every(({ status }) => status === 'success')).toBe(true)
    expect(new Set(mined.map(({ tx_hash }) => tx_hash)).size).toBe(200)
    expect(new Set(mined.map(({ block_number }) => block_number)).size).toBeLessThan(5)
  })

  it("mines what others send to the node's RPC", async () => {
    const { chain } = fixture
    const [from, to] = await rpc<string[]>(chain, 'eth_accounts')
    const hash = await rpc<string>(chain, 'eth_sendTransaction', { from, to, value: '0x1', gasPrice: '0x0' })
    await eventually(async () => {
      expect(await rpc(chain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    })
  })

  it('keeps working when somebody else mines ahead of the clock', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    const { timestamp } = await rpc<{ timestamp: string }>(chain, 'eth_getBlockByNumber', 'latest', false)
    const ahead = Number(timestamp) + 3_600
    await rpc(chain, 'evm_mine', { timestamp: ahead })
    const deposit = await chain.transfer(order('deposit', pool, 9_999_999n))
    expect(deposit).toMatchObject({ status: 'success', block_timestamp: ahead })
    const all = await chain.transfer(order('withdrawal', pool, 'all', { shares: deposit.shares }))
    expect(all).toMatchObject({ status: 'success', shares: deposit.shares })
  })
})
