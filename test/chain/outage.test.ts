import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

describe('a chain that does not answer', () => {
  let fixture: ChainFixture
  beforeEach(async () => {
    fixture = await startChain({ rpcTimeout: 300 })
    await fixture.fund(alice)
  })
  afterEach(() => fixture.chains.stop())

  it('refuses a transfer before anything is signed, and works again when it answers', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('aave USDC')
    await suspend(chain)
    const refused = order('deposit', pool, 1_000n)
    await expect(chain.transfer(refused)).rejects.toThrow(ChainUnavailableError)
    expect(refused.seen).toEqual({ facts: [], signed: [] })
    await expect(chain.values([{ pool, shares: 1n }])).rejects.toThrow(ChainUnavailableError)
    await expect(chain.market(pool)).rejects.toThrow(ChainUnavailableError)
    expect(chains.status()).toMatchObject({ ok: false, reason: expect.stringContaining('no answer within 300 ms') })

    process.kill(chain.pid, 'SIGCONT')
    expect(await chain.transfer(order('deposit', pool, 1_000n))).toMatchObject({ status: 'success' })
    expect(chains.status()).toEqual({ ok: true })
  })

  it('carries a signed transfer through once it answers again, as one transaction', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('vault USDC')
    let signed = ''
    const transfer = chain.transfer(
      order('deposit', pool, 1_000_000n, {
        async signed({ tx_hash }) {
          signed = tx_hash
          await suspend(chain)
        },
      }),
    )
    await vi.waitFor(() => expect(chains.status().ok).toBe(false), 5_000)
    await expect(chain.transfer(order('deposit', pool, 5n))).rejects.toThrow(ChainUnavailableError)

    process.kill(chain.pid, 'SIGCONT')
    expect(await transfer).toMatchObject({ status: 'success', tx_hash: signed, amount: 1_000_000n })
    const wallet = chains.walletAddress(alice)
    expect(await rpc(chain, 'eth_getTransactionCount', wallet, 'latest')).toBe('0x1')
    expect(chains.status()).toEqual({ ok: true })
  })

  it('is known to be gone as soon as its process ends, and ends what waits for it', async () => {
    const { chain, chains } = fixture
    const told = new Promise<string[]>((resolve) => chains.onExit((...exit) => resolve(exit)))
    const transfer = chain.transfer(
      order('deposit', fixture.pool('aave USDC'), 1_000n, {
        async signed() {
          process.kill(chain.pid, 'SIGKILL')
        },
      }),
    )
    await expect(transfer).rejects.toThrow(ChainUnavailableError)
    expect(await told).toEqual([chain.chain_id, 'Anvil ended with SIGKILL'])
    expect(chains.status()).toEqual({ ok: false, reason: `chain ${chain.chain_id}: Anvil ended with SIGKILL` })
    await expect(chain.transfer(order('deposit', fixture.pool('aave USDC'), 1n))).rejects.toThrow('SIGKILL')
    await expect(chains.stop()).resolves.toBeUndefined()
  })
})

/** Stops a chain's process for the time being. The signal reaches a busy process with a delay: until then it answers. */
async function suspend(chain: ChainFixture['chain']): Promise<void> {
  process.kill(chain.pid, 'SIGSTOP')
  for (;;) {
    try {
      await rpc(chain, 'eth_chainId')
    } catch {
      return
    }
  }
}
