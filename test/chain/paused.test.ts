import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChainUnavailableError, type WalletOwner } from '../../src/domain/ports/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

const bob: WalletOwner = { tenant_id: 'acme', external_id: 'bob' }

describe('a paused chain', () => {
  let fixture: ChainFixture
  beforeEach(async () => {
    fixture = await startChain()
    await fixture.fund(alice)
  })
  afterEach(() => fixture.chains.stop())

  it('fails every call at once, those under way included, and works again at once when resumed', async () => {
    const { chain, chains, clock } = fixture
    const pool = fixture.pool('aave USDC')
    const underWay = chain.market(pool)
    chain.pause()
    chain.pause()
    const refused = order('deposit', pool, 1_000n)
    const calls = [
      underWay,
      chain.transfer(refused),
      chain.values([{ pool, shares: 1n }]),
      chain.walletBalance(alice, pool.token_address),
      fixture.fund(bob),
      chain.reorg(),
      chain.setPoolPaused(pool, true),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: expect.any(ChainUnavailableError) })
      expect(String((call as PromiseRejectedResult).reason)).toContain('paused')
    }
    expect(refused.seen).toEqual({ facts: [], signed: [] })
    expect(chains.status()).toEqual({ ok: false, reason: `chain ${chain.chain_id}: paused by a fault` })
    await expect(rpc(chain, 'eth_chainId')).rejects.toThrow(ChainUnavailableError)

    clock.advance(86_400_000)
    chain.resume()
    chain.resume()
    expect(chains.status()).toEqual({ ok: true })
    expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'success' })
    const block = await rpc<{ timestamp: string }>(chain, 'eth_getBlockByNumber', 'latest', false)
    expect(Number(block.timestamp)).toBeGreaterThan(Date.now() / 1000 + 86_000)
  })

  it('carries a signed transfer through after it is resumed, as one transaction', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('vault USDC')
    const signed = order('deposit', pool, 1_000_000n)
    const transfer = chain.transfer({
      ...signed,
      async storeSigned() {
        chain.pause()
      },
    })
    await eventually(() => expect(signed.seen.signed).toHaveLength(1))
    await expect(chain.transfer(order('deposit', pool, 5n))).rejects.toThrow(ChainUnavailableError)
    expect(chains.status().ok).toBe(false)

    chain.resume()
    const next = chain.transfer(order('deposit', pool, 7n))
    expect(await transfer).toMatchObject({ status: 'success', tx_hash: signed.seen.signed[0]?.tx_hash })
    expect(await next).toMatchObject({ status: 'success' })
    const nonce = await rpc(chain, 'eth_getTransactionCount', chains.walletAddress(alice), 'latest')
    expect(nonce).toBe('0x2')
  })

  it('settles a transfer once whose block may have been mined when it was paused', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('aave WETH')
    const before = await chain.walletBalance(alice, pool.token_address)
    for (let round = 1; round <= 10; round++) {
      const signed = order('deposit', pool, 1_000n)
      const transfer = chain.transfer(signed)
      await eventually(() => expect(signed.seen.signed).toHaveLength(1), 1)
      for (let turn = 0; turn < round; turn++) await new Promise(setImmediate)
      chain.pause()
      await new Promise(setImmediate)
      chain.resume()
      expect(await transfer).toMatchObject({ status: 'success', tx_hash: signed.seen.signed[0]?.tx_hash })
      expect(await chain.walletBalance(alice, pool.token_address)).toBe(before - BigInt(round) * 1_000n)
    }
    expect(chains.status()).toEqual({ ok: true })
  })

  it('is reset while paused, and works afterwards', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('aave USDC')
    const transfer = chain.transfer(
      order('deposit', pool, 1_000n, {
        async storeSigned() {
          chain.pause()
        },
      }),
    )
    transfer.catch(() => {})
    await eventually(() => expect(chains.status().ok).toBe(false))
    const resetting = chains.reset()
    chain.pause()
    await resetting
    await expect(transfer).rejects.toThrow(ChainUnavailableError)
    expect(chains.status()).toEqual({ ok: true })
    expect(await chain.walletBalance(alice, pool.token_address)).toBe(0n)
    await fixture.fund(alice)
    expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'success' })
    expect(await rpc(chain, 'txpool_status')).toMatchObject({ pending: '0x0', queued: '0x0' })
  })

  it('ends in order, without force, when stopped while paused', async () => {
    const { chain, chains } = fixture
    const { pid } = chain
    chain.pause()
    await chains.stop()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})
