import { numberToHex } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import type { Hex } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, chainsForEachTest, rpc, startChain } from './chain-fixture.ts'
import { gone } from './node-pools.ts'
import { DAY, deposit, NEVER_BY_ITSELF, rested, START, story } from './resting.ts'

// The same blocks with and without rest, and rests all the time: on-demand-chain.long.test.ts.
describe('a chain on demand', () => {
  const start = chainsForEachTest(() => ({}))

  it('rests when nobody has used it for a while, and is woken by whoever does', async () => {
    const fixture = await start({ idleMs: 50 })
    await fixture.fund(alice)
    const { pid } = fixture.chain
    await eventually(() => gone(pid))
    expect(fixture.chain.awake).toBe(false)
    expect(fixture.chains.status()).toEqual({ ok: true })
    expect(await deposit(fixture)).toMatchObject({ status: 'success' })
    await eventually(() => expect(fixture.chain.awake).toBe(false))
  })

  it('does not rest by itself, nor when told to, unless it was made to', async () => {
    const fixture = await start()
    expect(await fixture.chain.rest(true)).toBe(false)
    expect(fixture.chain.awake).toBe(true)
  })
})

// Each goes on with the chain where the one before has left it, awake or not: an Anvil is what such a test costs.
describe('a chain on demand, once and again', () => {
  let fixture: ChainFixture
  beforeAll(async () => {
    // No block for the sake of those who read.
    fixture = await startChain({ idleMs: NEVER_BY_ITSELF, clock: new SandboxClock(START), blockTime: 30 * DAY })
    await fixture.fund(alice)
  })
  afterAll(() => fixture.chains.stop())
  const resting = async () => {
    if (fixture.chain.awake) await rested(fixture)
  }

  it('has a block of the new time when the clock moves while it rests, and none when it does not', async () => {
    const { clock } = fixture
    const present = clock.now()
    const height = await rpc<Hex>(fixture.chain, 'eth_blockNumber')
    await resting()
    clock.freeze()
    await fixture.chains.follow(clock)
    expect(fixture.chain.awake).toBe(false)
    clock.advance(DAY)
    await eventually(() => expect(fixture.chain.awake).toBe(true))
    await fixture.chains.follow(clock)
    expect(await rpc(fixture.chain, 'eth_getBlockByNumber', 'latest', false)).toMatchObject({
      number: numberToHex(Number(height) + 1),
      timestamp: numberToHex((present + DAY) / 1000),
    })
  })

  it('that goes on at rest stays so, and has a block of the present before it is used', async () => {
    const { clock, chain, chains } = fixture
    const before = clock.now()
    const height = Number(await rpc<Hex>(chain, 'eth_blockNumber'))
    await resting()
    clock.notBefore(before + DAY) // which is no move
    await chains.goOn()
    expect(chain.awake).toBe(false)
    const present = { number: numberToHex(height + 1), timestamp: numberToHex((before + DAY) / 1000) }
    expect(await rpc(chain, 'eth_getBlockByNumber', 'latest', false)).toMatchObject(present)
    clock.notBefore(before + 2 * DAY)
    await rested(fixture)
    expect(await rpc(chain, 'eth_getBlockByNumber', 'latest', false)).toMatchObject(present)
    await chains.goOn()
    expect(Number(await rpc<Hex>(chain, 'eth_blockNumber'))).toBe(height + 2)
  })

  it('keeps what others changed, and tells of its last block what it told before', async () => {
    const { chain } = fixture
    await deposit(fixture)
    const rich = `0x${'8'.repeat(40)}`
    await rpc(chain, 'anvil_setBalance', rich, '0x1234')
    const told = async () => [
      await chain.shares(alice, fixture.pool('aave USDC')),
      await rpc(chain, 'eth_getBalance', rich, 'latest'),
      await rpc(chain, 'eth_blockNumber'),
      await rpc(chain, 'eth_getBlockByNumber', 'latest', false),
      await rpc(chain, 'eth_getBlockByNumber', 'latest', true),
      await rpc(chain, 'eth_getBlockReceipts', 'latest'),
      await rpc(chain, 'eth_getBlockTransactionCountByNumber', 'latest'),
      await rpc(chain, 'eth_getTransactionByBlockNumberAndIndex', 'latest', '0x0'),
      await rpc(chain, 'eth_getLogs', {}),
      await rpc(chain, 'eth_getLogs', { fromBlock: 'latest' }),
      await rpc(chain, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }),
    ]
    const before = await told()
    await rested(fixture)
    expect(await told()).toEqual(before)
    expect(before.at(-2)).not.toEqual([])
  })

  it('keeps its Anvil while that alone has something of others, unless it may forget that', async () => {
    const { chain } = fixture
    const id = await rpc(chain, 'evm_snapshot')
    expect(await chain.rest(false)).toBe(false)
    expect(chain.awake).toBe(true)
    expect(await rpc(chain, 'evm_revert', id)).toBe(true)
    const next = await rpc(chain, 'evm_snapshot')
    await rested(fixture, true)
    expect(await rpc(chain, 'evm_revert', next)).toBe(false)
    await rested(fixture)
  })

  it('is paused while it rests as it would be at work', async () => {
    const { clock, chain } = fixture
    const before = clock.now()
    await resting()
    chain.pause()
    expect(chain.status).toEqual({ ok: false, reason: 'paused by a fault' })
    await expect(deposit(fixture)).rejects.toThrow(ChainUnavailableError)
    await expect(chain.relay({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).rejects.toThrow('paused by a fault')
    await expect(fixture.chains.copy(() => {})).rejects.toThrow('paused by a fault')
    clock.advance(DAY)
    expect(await fixture.chains.follow(clock)).toMatchObject({ ok: false })
    expect(chain.awake).toBe(false)
    chain.resume()
    await eventually(() => expect(chain.awake).toBe(true))
    expect(chain.status).toEqual({ ok: true })
    expect(await deposit(fixture)).toMatchObject({ block_timestamp: (before + DAY) / 1000 })
  })

  it('does not rest while it is paused', async () => {
    await rpc(fixture.chain, 'eth_blockNumber') // which wakes it
    fixture.chain.pause()
    expect(await fixture.chain.rest(true)).toBe(false)
    fixture.chain.resume()
    await rested(fixture)
  })

  it('is reset while it rests to what it is when reset at work', async () => {
    const resetTo = async () => {
      fixture.clock.reset()
      await fixture.chains.reset()
      await fixture.fund(alice)
      await deposit(fixture)
      return story(fixture)
    }
    await resting()
    const fromRest = await resetTo()
    expect(fixture.chain.awake).toBe(true)
    expect(await resetTo()).toEqual(fromRest)
  })

  it('refuses what waited for it when it is reset, or stopped', async () => {
    await resting()
    const early = deposit(fixture)
    const [refused] = await Promise.allSettled([early, fixture.chains.reset()])
    expect(String(refused.status === 'rejected' && refused.reason)).toContain('it was reset')
    expect(await fixture.chain.shares(alice, fixture.pool('aave USDC'))).toBe(0n)
    await rested(fixture)
    const late = deposit(fixture)
    const [rejected] = await Promise.allSettled([late, fixture.chains.stop()])
    expect(String(rejected.status === 'rejected' && rejected.reason)).toContain('it was stopped')
    await expect(deposit(fixture)).rejects.toThrow('it was stopped')
    expect(fixture.chain.awake).toBe(false)
  })
})
