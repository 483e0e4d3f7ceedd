import { afterEach, describe, expect, it, vi } from 'vitest'
import { MemoryJournal } from '../../src/chain/history/chain-journal.ts'
import { NodeSupervisor } from '../../src/chain/node/node-supervisor.ts'
import { ChainSetupError, ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import type { Journal } from '../../src/domain/ports/journal.ts'
import { eventually } from '../helpers/eventually.ts'
import { MemoryJournal as FileLikeJournal } from './archive-fixture.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'

/** Journals that outlive a chain, as files would. */
class Shelf {
  readonly journals = new Map<string, Journal<unknown>>()

  open = async <Entry>(name: string): Promise<Journal<Entry>> => {
    const journal = this.journals.get(name) ?? new MemoryJournal<unknown>()
    this.journals.set(name, journal)
    return journal as Journal<Entry>
  }

  /** Changes every entry of a chain's journal. */
  async change(edit: (entry: Record<string, unknown>) => Record<string, unknown>): Promise<void> {
    const journal = this.journals.get('chain-31337')!
    const entries: unknown[] = []
    for await (const entry of journal.read()) entries.push(edit(entry as Record<string, unknown>))
    await journal.rewrite(entries)
  }
}

describe('a chain that was kept', () => {
  let fixture: ChainFixture | undefined
  afterEach(() => fixture?.chains.stop())

  async function keep(shelf: Shelf): Promise<string> {
    fixture = await startChain({ journal: shelf.open })
    await fixture.fund(alice)
    const { tx_hash } = await fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 1_000n))
    await fixture.chains.stop()
    return tx_hash
  }

  it('goes on with the blocks it had', async () => {
    const shelf = new Shelf()
    const hash = await keep(shelf)
    fixture = await startChain({ journal: shelf.open })
    expect(await rpc(fixture.chain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 1n))).toMatchObject({
      status: 'success',
    })
  })

  it('goes on from a journal that holds no hashes', async () => {
    const shelf = new Shelf()
    const hash = await keep(shelf)
    await shelf.change(({ hash: _, ...entry }) => entry)
    fixture = await startChain({ journal: shelf.open })
    expect(await rpc(fixture.chain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await fixture.chain.transfer(order('deposit', fixture.pool('aave USDC'), 1n))).toMatchObject({
      status: 'success',
    })
  })

  it('that cannot be made again says so, and what helps, and is healed by a reset', async () => {
    const shelf = new Shelf()
    fixture = await startChain({ journal: shelf.open })
    const { chain, chains, pool, fund } = fixture
    await fund(alice)
    const deposit = () => chain.transfer(order('deposit', pool('aave USDC'), 1_000n))
    await deposit()
    await shelf.change(({ send: _, ...entry }) => entry)
    process.kill(chain.pid, 'SIGKILL')
    const reason = /block \d+ came out as another one .* POST \/_sandbox\/reset/
    await eventually(() => expect(chains.status().reason).toMatch(reason))
    await expect(deposit()).rejects.toThrow(ChainUnavailableError)
    await chains.reset()
    expect(chains.status()).toEqual({ ok: true })
    await fund(alice)
    expect(await deposit()).toMatchObject({ status: 'success' })
  })

  it.each([
    ['another hash', (entry: Record<string, unknown>) => ('hash' in entry ? { ...entry, hash: '0x1234' } : entry)],
    ['another time', (entry: Record<string, unknown>) => ('mine' in entry ? { ...entry, mine: 4_000_000_000 } : entry)],
  ])('is refused when its last block comes out with %s', async (_, edit) => {
    const shelf = new Shelf()
    await keep(shelf)
    await shelf.change(edit)
    const failure = await startChain({ journal: shelf.open }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ChainSetupError)
    expect(String(failure)).toMatch(
      /chain 31337: done again, block \d+ came out as another one .*Fix: restore a backup/,
    )
  })

  it('is left alone when its archive turns out to be damaged, even if Anvil came up meanwhile', async () => {
    const files = new Map<string, FileLikeJournal<unknown>>()
    const open = async <Entry>(name: string) => {
      const journal = files.get(name) ?? new FileLikeJournal<unknown>()
      files.set(name, journal)
      return journal as FileLikeJournal<Entry>
    }
    fixture = await startChain({ journal: open })
    for (let i = 0; i < 40; i++) await fixture.fund({ ...alice, external_id: `user-${i}` })
    const journal = files.get('chain-31337')!
    const kept = [...journal.entries] // which is what a kill leaves
    await fixture.chains.stop()
    journal.entries = [...kept]

    let cameUp = () => {}
    const up = new Promise<void>((resolve) => {
      cameUp = resolve
    })
    const start = NodeSupervisor.prototype.start
    vi.spyOn(NodeSupervisor.prototype, 'start').mockImplementationOnce(async function (this: NodeSupervisor, ...given) {
      await start.apply(this, given)
      cameUp()
    })
    const damaged = async <Entry>(name: string) => {
      if (name !== 'blocks-31337') return open<Entry>(name)
      await up
      throw new Error('damaged')
    }
    await expect(startChain({ journal: damaged })).rejects.toThrow('damaged')
    expect(journal.entries).toEqual(kept)
  })
})
