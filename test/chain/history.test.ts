import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

/** More blocks than Anvil keeps, and more operations than a journal holds before a checkpoint takes their place. */
const MANY = 450

describe('what a chain has been', () => {
  let fixture: ChainFixture
  beforeEach(async () => {
    fixture = await startChain()
    await fixture.fund(alice)
  })
  afterEach(() => fixture.chains.stop())

  const deposit = () => fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 1_000_000n))
  const look = async (hash: string, number: number) => ({
    receipt: await rpc(fixture.chain, 'eth_getTransactionReceipt', hash),
    transaction: await rpc(fixture.chain, 'eth_getTransactionByHash', hash),
    raw: await rpc(fixture.chain, 'eth_getRawTransactionByHash', hash),
    block: await rpc(fixture.chain, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true),
    logs: await rpc(fixture.chain, 'eth_getLogs', { fromBlock: '0x0', toBlock: `0x${number.toString(16)}` }),
  })
  const killed = async () => {
    const { pid } = fixture.chain
    process.kill(pid, 'SIGKILL')
    await eventually(() => expect(fixture.chain.pid).not.toBe(pid))
    await eventually(() => expect(fixture.chains.status()).toEqual({ ok: true }))
  }

  it('is told the same after hundreds of blocks, a checkpoint and a kill', async () => {
    const { chain, clock } = fixture
    const mined = await deposit()
    const fresh = await look(mined.tx_hash, mined.block_number)
    expect(fresh.receipt).toMatchObject({ status: '0x1' })
    for (let block = 0; block < MANY; block++) {
      clock.advance(1_000)
      await chain.catchUp()
    }
    const shares = await chain.shares(alice, fixture.pool('aave USDC'))
    expect(chain.outcome(mined.tx_hash)).toBe('success')
    expect(await look(mined.tx_hash, mined.block_number)).toEqual(fresh)
    await killed()
    expect(await look(mined.tx_hash, mined.block_number)).toEqual(fresh)
    expect(await chain.shares(alice, fixture.pool('aave USDC'))).toBe(shares)
    const next = await deposit()
    expect(next).toMatchObject({ status: 'success' })
    expect(next.block_number).toBeGreaterThan(mined.block_number + MANY)
  })

  it('survives that others mine more blocks than Anvil keeps', async () => {
    const { chain } = fixture
    const mined = await deposit()
    const fresh = await look(mined.tx_hash, mined.block_number)
    await rpc(chain, 'anvil_mine', '0x64', '0x1')
    await deposit()
    expect(await look(mined.tx_hash, mined.block_number)).toEqual(fresh)
    const last = await rpc(chain, 'eth_blockNumber')
    await killed()
    expect(await rpc(chain, 'eth_blockNumber')).toBe(last)
    expect(await look(mined.tx_hash, mined.block_number)).toEqual(fresh)
  })

  it('survives that others take blocks back that a checkpoint has kept', async () => {
    const { chain, clock } = fixture
    await deposit()
    const snapshot = await rpc(chain, 'evm_snapshot')
    await rpc(chain, 'anvil_mine', '0x5', '0x1')
    clock.advance(60_000)
    await chain.catchUp()
    expect(await rpc(chain, 'evm_revert', snapshot)).toBe(true)
    await killed()
    await rpc(chain, 'anvil_mine', '0x5', '0x1')
    expect(await deposit()).toMatchObject({ status: 'success' })
  })

  it('holds nothing from before its first block, and no state from before', async () => {
    const { chain, market } = fixture
    const supply = { to: market.tokens.USDC!.address, data: '0x18160ddd' }
    expect(await rpc(chain, 'eth_getBlockByNumber', '0x0', false)).toBeNull()
    expect(await rpc(chain, 'eth_getBlockByNumber', 'earliest', false)).toMatchObject({ number: '0x3' })
    expect(await rpc(chain, 'eth_getTransactionReceipt', `0x${'12'.repeat(32)}`)).toBeNull()
    expect(await rpc(chain, 'eth_getLogs', { fromBlock: '0x0', toBlock: '0x1' })).toEqual([])
    await expect(rpc(chain, 'eth_call', supply, '0x1')).rejects.toThrow('state of block 1 is not kept')
    await expect(rpc(chain, 'eth_call', supply, '0x3')).resolves.toMatch(/^0x/)
  })
})
