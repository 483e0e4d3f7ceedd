import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryJournal } from '../../src/chain/history/chain-journal.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Journal } from '../../src/domain/ports/journal.ts'
import type { Hex } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, chainsForEachTest, order, rpc, startChain } from './chain-fixture.ts'

const START = Date.UTC(2030, 0, 1)
const DAY = 86_400_000

describe('a copy of a chain', () => {
  const options = () => ({ idleMs: 1_000_000, clock: new SandboxClock(START) })
  const start = chainsForEachTest(options)
  /** The chain that is copied: one for all tests, which go on where the one before has left it. */
  let first: ChainFixture
  let fresh: { hash: Hex }

  const deposit = ({ chain, pool }: ChainFixture, amount = 1_000_000n) =>
    chain.transfer(order('deposit', pool('aave USDC'), amount))
  const shares = ({ chain, pool }: ChainFixture) => chain.shares(alice, pool('aave USDC'))
  const last = ({ chain }: ChainFixture) => rpc<{ hash: Hex }>(chain, 'eth_getBlockByNumber', 'latest', false)
  beforeAll(async () => {
    first = await startChain(options())
    fresh = await last(first)
    await first.fund(alice)
  })
  afterAll(() => first.chains.stop())
  const copyOf = async ({ chains }: ChainFixture) => (await chains.copy(() => {})).chains

  it('goes on from where the other was, and neither sees what the other does', async () => {
    await deposit(first)
    const { chains: begin, result } = await first.chains.copy(async () => 'what was copied meanwhile')
    expect(result).toBe('what was copied meanwhile')
    const before = await last(first)
    const [second, third] = [await start({ begin }), await start({ begin })]
    expect(second.chain.awake).toBe(false)
    expect(await last(second)).toEqual(before)
    second.clock.advance(DAY)
    await second.chains.follow(second.clock)
    await deposit(second, 5n)
    expect(await last(first)).toEqual(before)
    expect(await last(third)).toEqual(before)
    expect(await shares(first)).toBe(await shares(third))
    expect(await shares(second)).toBeGreaterThan(await shares(first))
  })

  it('is of one moment: what is done meanwhile waits', async () => {
    const before = await shares(first)
    let done = false
    let waiting: Promise<unknown> | undefined
    const { chains: begin, result } = await first.chains.copy(async () => {
      waiting = deposit(first).then(() => {
        done = true
      })
      await last(first) // reads go on
      return done
    })
    await waiting
    expect({ result, done }).toEqual({ result: false, done: true })
    const second = await start({ begin })
    expect(await shares(second)).toBe(before)
    expect(await shares(first)).toBeGreaterThan(before)
  })

  it('is reset to what the other began with', async () => {
    await deposit(first)
    const second = await start({ begin: await copyOf(first) })
    await second.chains.reset()
    expect(await last(second)).toEqual(fresh)
  })

  it('is written to its own journals, whatever they held', async () => {
    const journals = new Map<string, Journal<unknown>>()
    const journal = async <Entry>(name: string): Promise<Journal<Entry>> => {
      const known = journals.get(name) ?? new MemoryJournal<unknown>()
      journals.set(name, known)
      return known as Journal<Entry>
    }
    const { tx_hash } = await deposit(first)
    await rpc(first.chain, 'anvil_mine', '0x28')
    await rpc(first.chain, 'anvil_setBalance', `0x${'8'.repeat(40)}`, '0x1')
    const begin = await copyOf(first)
    await (await start({ begin, journal })).chains.stop()
    await (await start({ begin, journal })).chains.stop()
    const second = await start({ journal })
    expect(await last(second)).toEqual(await last(first))
    expect(second.chain.outcome(tx_hash)).toBe('success')
  })

  it('holds what others changed', async () => {
    const rich = `0x${'8'.repeat(40)}`
    await rpc(first.chain, 'anvil_setBalance', rich, '0x1234')
    const second = await start({ begin: await copyOf(first) })
    expect(await rpc(second.chain, 'eth_getBalance', rich, 'latest')).toBe('0x1234')
  })

  it('has the blocks that Anvil has forgotten, also where the other took some back', async () => {
    const { tx_hash } = await deposit(first)
    await rpc(first.chain, 'anvil_mine', '0x28')
    await rpc(first.chain, 'anvil_setBalance', `0x${'8'.repeat(40)}`, '0x1') // a checkpoint follows
    const begin = await copyOf(first)
    const second = await start({ begin })
    await first.chains.reset()
    expect(await rpc(second.chain, 'eth_getTransactionReceipt', tx_hash)).toMatchObject({ status: '0x1' })
    expect(second.chain.outcome(tx_hash)).toBe('success')
    expect(first.chain.outcome(tx_hash)).toBeUndefined()
    const third = await start({ begin })
    await second.chains.reset()
    expect(third.chain.outcome(tx_hash)).toBe('success')
    expect(await rpc(third.chain, 'eth_getTransactionReceipt', tx_hash)).toMatchObject({ status: '0x1' })
  })

  it('does what the other does, to the same blocks', async () => {
    await first.fund(alice) // it was reset
    const second = await start({ begin: await copyOf(first) })
    for (const fixture of [first, second]) {
      await deposit(fixture)
      fixture.clock.advance(DAY)
      await fixture.chains.follow(fixture.clock)
      await deposit(fixture, 7n)
    }
    expect(await last(second)).toEqual(await last(first))
  })

  it('is the same of a chain that rests, and of a copy that was never used', async () => {
    await deposit(first)
    const busy = await copyOf(first)
    await eventually(async () => expect(await first.chain.rest(false)).toBe(true))
    const idle = await copyOf(first)
    expect(first.chain.awake).toBe(false)
    expect(idle).toEqual(busy)
    const second = await start({ begin: idle })
    expect(await copyOf(second)).toEqual(busy)
    expect(second.chain.awake).toBe(false)
  })
})
