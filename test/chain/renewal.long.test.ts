import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Hex } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

/** Blocks and transactions: the first block of a chain, and then eight deposits, one after another, each two of them. */
const AFTER = 17
const DEPOSITS = 8

describe('an Anvil that has done much', () => {
  let fixture: ChainFixture
  /** The first one's. */
  let pid: number
  beforeEach(async () => {
    fixture = await startChain({ renewAfter: AFTER })
    await fixture.fund(alice)
    pid = fixture.chain.pid
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await fixture.chains.stop()
  })

  const deposit = () => fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 1_000_000n))
  const deposits = async (count: number) => {
    for (let i = 1; i < count; i++) await deposit()
    return deposit()
  }
  const renewed = () => eventually(() => expect(fixture.chain.pid).not.toBe(pid))

  it('is replaced by another in a quiet moment, which answers the same', async () => {
    fixture.clock.freeze() // or whoever reads the latest block later has another one mined
    const { tx_hash, block_number } = await deposits(DEPOSITS)
    expect(fixture.chain.pid).toBe(pid)
    const supply = { to: fixture.market.tokens.USDC!.address, data: '0x18160ddd' }
    const last = `0x${block_number.toString(16)}`
    const look = () =>
      Promise.all([
        rpc(fixture.chain, 'eth_blockNumber'),
        rpc(fixture.chain, 'eth_getBlockByNumber', 'latest', true),
        rpc(fixture.chain, 'eth_getTransactionReceipt', tx_hash),
        rpc(fixture.chain, 'eth_getLogs', { fromBlock: 'latest', toBlock: 'latest' }),
        rpc(fixture.chain, 'eth_feeHistory', '0x4', 'latest', []),
        rpc(fixture.chain, 'eth_call', supply, last),
        rpc(fixture.chain, 'debug_traceTransaction', tx_hash),
      ])
    const before = await look()
    await renewed()
    expect(await look()).toEqual(before)
    expect(await deposit()).toMatchObject({ status: 'success', block_number: block_number + 1 })
  })

  it('is replaced before the next round where no moment is quiet', async () => {
    await deposits(DEPOSITS)
    expect(await deposit()).toMatchObject({ status: 'success' })
    expect(fixture.chain.pid).not.toBe(pid)
  })

  it('stays while a transaction waits in its pool', async () => {
    const account = privateKeyToAccount(`0x${'5'.repeat(64)}`)
    const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, gas: 21_000n }
    const sign = (nonce: number) =>
      account.signTransaction({
        type: 'eip1559',
        chainId: Number(fixture.chain.chain_id),
        nonce,
        to: account.address,
        ...fees,
      })
    const second = await rpc<Hex>(fixture.chain, 'eth_sendRawTransaction', await sign(1))
    await deposits(DEPOSITS + 2)
    expect(fixture.chain.pid).toBe(pid)
    await rpc(fixture.chain, 'eth_sendRawTransaction', await sign(0))
    await renewed()
    expect(await rpc(fixture.chain, 'eth_getTransactionReceipt', second)).toMatchObject({ status: '0x1' })
  })

  it.each([
    ['a filter', true, 'eth_newBlockFilter', []],
    ['a snapshot', false, 'evm_snapshot', []],
    ['an account to act for', false, 'anvil_impersonateAccount', [`0x${'7'.repeat(40)}`]],
  ])('stays while it alone has %s of somebody, which a reset takes away', async (_, survives, method, params) => {
    fixture.clock.freeze() // or the call that reads the filter mines another block
    await rpc(fixture.chain, 'eth_blockNumber') // mines the block that is due if a second has passed meanwhile
    const id = await rpc(fixture.chain, method, ...params)
    await deposits(DEPOSITS + 2)
    expect(fixture.chain.pid).toBe(pid)
    if (method === 'eth_newBlockFilter') {
      expect(await rpc<Hex[]>(fixture.chain, 'eth_getFilterChanges', id)).toHaveLength(DEPOSITS + 2)
    }
    await fixture.chain.reset()
    expect(fixture.chain.pid === pid).toBe(survives)
    await fixture.fund(alice)
    expect(await deposit()).toMatchObject({ status: 'success' })
    expect(fixture.chain.pid).not.toBe(pid)
  })

  it('stays when no other starts, and is tried again later', async () => {
    await deposits(DEPOSITS - 1)
    vi.stubEnv('TMPDIR', '/nowhere')
    await deposits(3) // the second of them finds out
    expect(fixture.chain.pid).toBe(pid)
    expect(fixture.chains.status()).toEqual({ ok: true })
    vi.unstubAllEnvs()
    expect(await deposits(DEPOSITS + 1)).toMatchObject({ status: 'success' })
    expect(fixture.chain.pid).not.toBe(pid)
  })

  it('answers what it was asked before it leaves', async () => {
    let over = false
    const reading = Promise.all(
      Array.from({ length: 8 }, async () => {
        let answers = 0
        while (!over) {
          await rpc(fixture.chain, 'eth_getBlockByNumber', 'latest', true)
          await fixture.chain.shares(alice, fixture.pool('aave USDC'))
          answers++
        }
        return answers
      }),
    )
    const pids = new Set<number>()
    for (let i = 0; i < 4 * DEPOSITS; i++) {
      await Promise.all([deposit(), deposit()])
      pids.add(fixture.chain.pid)
    }
    over = true
    expect(Math.min(...(await reading))).toBeGreaterThan(10)
    expect(pids.size).toBeGreaterThan(2)
  })

  it('goes back to the beginning, and does so quickly again the next time', async () => {
    await deposits(DEPOSITS)
    await rpc(fixture.chain, 'anvil_setBalance', `0x${'8'.repeat(40)}`, '0x1234') // a checkpoint follows
    await deposit()
    await renewed()
    const { pid: second } = fixture.chain
    await fixture.chain.reset()
    const { pid: third } = fixture.chain
    expect(third).not.toBe(second)
    expect(await fixture.chain.shares(alice, fixture.pool('aave USDC'))).toBe(0n)
    await fixture.fund(alice)
    expect(await deposit()).toMatchObject({ status: 'success' })
    await fixture.chain.reset()
    expect(fixture.chain.pid).toBe(third)
  })

  it('leaves others changes of the chain as they are', async () => {
    const rich = `0x${'8'.repeat(40)}`
    await rpc(fixture.chain, 'anvil_setBalance', rich, '0x1234')
    await deposits(DEPOSITS)
    await rpc(fixture.chain, 'anvil_setBalance', rich, '0x5678')
    await deposit()
    await renewed()
    expect(await rpc(fixture.chain, 'eth_getBalance', rich, 'latest')).toBe('0x5678')
  })
})
