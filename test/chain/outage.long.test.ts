import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import type { Pool } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, nodeUrl, order, rpc, startChain } from './chain-fixture.ts'

describe('a chain that does not answer', () => {
  let fixture: ChainFixture
  beforeEach(async () => {
    fixture = await startChain({ rpcTimeout: 300 })
    await fixture.fund(alice)
  })
  afterEach(() => fixture.chains.stop())
  const deposit = (pool: Pool, amount: bigint) =>
    fixture.insist(() => fixture.chain.transfer(order('deposit', pool, amount)))

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
    expect(await deposit(pool, 1_000n)).toMatchObject({ status: 'success' })
    expect(chains.status()).toEqual({ ok: true })
  })

  it('carries a signed transfer through once it answers again, as one transaction', async () => {
    const { chain, chains } = fixture
    const pool = fixture.pool('vault USDC')
    let signed = ''
    const transfer = chain.transfer(
      order('deposit', pool, 1_000_000n, {
        async storeSigned([stored]) {
          signed = stored!.tx_hash
          await suspend(chain)
        },
      }),
    )
    await eventually(() => expect(chains.status().ok).toBe(false))
    await expect(chain.transfer(order('deposit', pool, 5n))).rejects.toThrow(ChainUnavailableError)

    process.kill(chain.pid, 'SIGCONT')
    expect(await transfer).toMatchObject({ status: 'success', tx_hash: signed, amount: 1_000_000n })
    const wallet = chains.walletAddress(alice)
    expect(await rpc(chain, 'eth_getTransactionCount', wallet, 'latest')).toBe('0x1')
    expect(chains.status()).toEqual({ ok: true })
  })

  it('is restarted where it was when its process ends, and carries a signed transfer through', async () => {
    const { chain, chains, clock } = fixture
    const pool = fixture.pool('aave USDC')
    const { shares } = await deposit(pool, 1_000n)
    clock.advance(86_400_000)
    const signed = order('deposit', pool, 2_000n)
    const transfer = chain.transfer({
      ...signed,
      async storeSigned() {
        process.kill(chain.pid, 'SIGKILL')
      },
    })
    await eventually(() => expect(chains.status().reason).toContain('Anvil ended with SIGKILL; it is being restarted'))
    await expect(chain.transfer(order('deposit', pool, 1n))).rejects.toThrow(ChainUnavailableError)

    const mined = await transfer
    expect(mined).toMatchObject({ status: 'success', tx_hash: signed.seen.signed[0]?.tx_hash })
    await eventually(() => expect(chains.status()).toEqual({ ok: true }))
    expect(await chain.shares(alice, pool)).toBe(shares + mined.shares)
    expect(await rpc(chain, 'eth_getTransactionCount', chains.walletAddress(alice), 'latest')).toBe('0x2')
    expect(await deposit(pool, 3n)).toMatchObject({ status: 'success' })
  })

  it('has the same blocks after it was killed again and again, at any moment', async () => {
    const { chain, chains } = fixture
    const pools = [fixture.pool('aave USDC'), fixture.pool('vault WETH')]
    const blocks = async () => {
      const last = Number(await rpc(chain, 'eth_blockNumber'))
      const numbers = Array.from({ length: last - 2 }, (_, i) => `0x${(i + 3).toString(16)}`)
      return Promise.all(numbers.map((number) => rpc<{ hash: string }>(chain, 'eth_getBlockByNumber', number, false)))
    }
    for (let round = 0; round < 5; round++) {
      const transfers = pools.flatMap((pool) =>
        [1n, 2n].map((amount) => chain.transfer(order('deposit', pool, amount))),
      )
      for (let turn = 0; turn < round * 8; turn++) await new Promise(setImmediate)
      const before = round % 2 ? await blocks() : undefined
      const { pid } = chain
      process.kill(pid, 'SIGKILL')
      // Signed ones are carried through, others are refused with nothing signed.
      for (const outcome of await Promise.allSettled(transfers)) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ChainUnavailableError)
      }
      await eventually(() => expect(chain.pid).not.toBe(pid))
      await eventually(() => expect(chains.status()).toEqual({ ok: true }))
      const after = await blocks()
      if (before) expect(after.slice(0, before.length).map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash))
      expect(await deposit(pools[0]!, 5n)).toMatchObject({ status: 'success' })
    }
  })

  it('still is as others made it after it was killed', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    await rpc(chain, 'anvil_setBalance', pool.market_address, '0x2a')
    const [from, to] = await rpc<string[]>(chain, 'eth_accounts')
    const hash = await rpc<string>(chain, 'eth_sendTransaction', { from, to, value: '0x1', gasPrice: '0x0' })
    await rpc(chain, 'evm_mine')
    await deposit(pool, 7n)
    const { pid } = chain
    process.kill(pid, 'SIGKILL')
    await eventually(() => expect(chain.pid).not.toBe(pid))
    await eventually(() => expect(fixture.chains.status()).toEqual({ ok: true }))
    expect(await rpc(chain, 'eth_getBalance', pool.market_address, 'latest')).toBe('0x2a')
    expect(await rpc(chain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await deposit(pool, 8n)).toMatchObject({ status: 'success' })
  })

  it('is killed and restarted when it hangs', async () => {
    const { chain, chains } = fixture
    const { pid } = chain
    const transfer = chain.transfer(
      order('deposit', fixture.pool('vault USDC'), 7n, {
        async storeSigned() {
          process.kill(pid, 'SIGSTOP')
        },
      }),
    )
    expect(await transfer).toMatchObject({ status: 'success' })
    expect(chain.pid).not.toBe(pid)
    await eventually(() => expect(chains.status()).toEqual({ ok: true }))
  })
})

describe.runIf(process.platform === 'linux')('a call that keeps the state busy', () => {
  it('is noticed, though all else is answered, and deposits go on', async () => {
    const { chain, chains, fund, pool } = await startChain()
    await fund(alice)
    const { pid } = chain
    const node = await nodeUrl(pid)
    // Past the gateway, which would not let it through.
    const endless = { data: '0x5b600056', gas: '0xffffffffffffffff' }
    void rpc(node, 'eth_call', endless, 'latest').catch(() => {})
    expect(await rpc(node, 'eth_chainId')).toBe('0x7a69')
    // The first that is in its way waits, and is carried through by another node.
    while (chain.pid === pid) {
      expect(await chain.transfer(order('deposit', pool('aave USDC'), 7n))).toMatchObject({ status: 'success' })
    }
    await eventually(() => expect(chains.status()).toEqual({ ok: true }))
    await chains.stop()
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
