import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import type { Hex } from '../../src/domain/records.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

let fixture: ChainFixture
beforeAll(async () => {
  fixture = await startChain()
  await fixture.fund(alice)
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => fixture.chains.stop())

/** The next broadcasts are answered as if the node had taken them, and lost: no Anvil can be made to do that. */
function loseBroadcasts(count: number, { upstream = 'well' } = {}): void {
  const { settle } = RpcClient.prototype
  let left = count
  let failures = 0
  vi.spyOn(RpcClient.prototype, 'upstreamFailures', 'get').mockImplementation(() => failures)
  vi.spyOn(RpcClient.prototype, 'settle').mockImplementation(async function (this: RpcClient, calls) {
    if (left === 0 || calls[0]?.[0] !== 'eth_sendRawTransaction') return settle.call(this, calls)
    left--
    if (upstream === 'fails') failures++
    return calls.map(([, raw]) => keccak256(raw as Hex))
  })
}

describe('a signed transfer that is not in the block', () => {
  it('is sent again for the next one, three times', async () => {
    const { chain } = fixture
    loseBroadcasts(3)
    const { status, tx_hash } = await chain.transfer(order('deposit', fixture.pool('aave USDC'), 5n))
    expect(status).toBe('success')
    expect(await rpc(chain, 'eth_getTransactionReceipt', tx_hash)).toMatchObject({ status: '0x1' })
  })

  it('is sent again however often, when the upstream of a fork failed meanwhile', async () => {
    loseBroadcasts(6, { upstream: 'fails' })
    const transfer = fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 5n))
    expect(await transfer).toMatchObject({ status: 'success' })
  })

  it('is given up after that, and does not hold up the next', async () => {
    const { chain } = fixture
    const pool = fixture.pool('aave USDC')
    const before = await chain.shares(alice, pool)
    loseBroadcasts(4)
    await expect(chain.transfer(order('deposit', pool, 5n))).rejects.toThrow(/was not mined: no block takes it/)
    expect(await chain.shares(alice, pool)).toBe(before)
    expect(await chain.transfer(order('deposit', pool, 7n))).toMatchObject({ status: 'success', amount: 7n })
  })
})
