import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

describe('reset', () => {
  let fixture: ChainFixture
  beforeAll(async () => {
    fixture = await startChain()
  })
  afterAll(() => fixture.chains.stop())

  const latest = async () => {
    const block = await rpc<{ timestamp: string }>(fixture.chain, 'eth_getBlockByNumber', 'latest', false)
    return Number(block.timestamp)
  }

  it('brings balances, positions, nonces and time back, again and again', async () => {
    const { chain, chains, clock } = fixture
    const pool = fixture.pool('aave USDC')
    const hashes = new Set<string>()
    for (let round = 0; round < 3; round++) {
      await fixture.fund(alice, 1_000n)
      const deposit = order('deposit', pool, 700n)
      hashes.add((await chain.transfer(deposit)).tx_hash)
      clock.advance(40 * 86_400_000)
      expect(await chain.transfer(order('deposit', pool, 300n))).toMatchObject({ status: 'success' })
      expect(await latest()).toBeGreaterThan(Date.now() / 1000 + 39 * 86_400)

      clock.reset()
      await chains.reset()
      expect(await chain.walletBalance(alice, pool.token_address)).toBe(0n)
      expect(await chain.shares(alice, pool)).toBe(0n)
      expect(Math.abs((await latest()) - Date.now() / 1000)).toBeLessThan(60)
    }
    expect(hashes.size).toBe(1)
  })

  it('rejects what is under way and mines none of it afterwards', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('vault USDC')
    await fixture.fund(alice, 1_000n)
    let resetting: Promise<void> | undefined
    const running = chain.transfer(
      order('deposit', pool, 10n, {
        async storeSigned() {
          resetting = chains.reset()
        },
      }),
    )
    await expect(running).rejects.toThrow(ChainUnavailableError)
    await resetting
    expect(await rpc(chain, 'eth_getTransactionCount', chains.walletAddress(alice), 'pending')).toBe('0x0')
    await fixture.fund(alice, 50n)
    expect(await chain.transfer(order('deposit', pool, 50n))).toMatchObject({ status: 'success' })
  })

  it('knows nothing of nonces that were read before it, at whatever moment it comes', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('aave USDC')
    const deposit = () => chain.transfer(order('deposit', pool, 10n))
    for (let turns = 0; turns < 20; turns++) {
      await chains.reset()
      await fixture.fund(alice, 1_000n)
      expect(await deposit(), `${turns} turns of the event loop`).toMatchObject({ status: 'success' })
      const underWay = deposit().catch((error: unknown) => expect(error).toBeInstanceOf(ChainUnavailableError))
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      await Promise.all([chains.reset(), underWay])
      await fixture.fund(alice, 1_000n)
      expect(await deposit(), `${turns} turns of the event loop`).toMatchObject({ status: 'success' })
    }
  })
})
