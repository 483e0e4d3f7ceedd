import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ChainUnavailableError, type WalletOwner } from '../../src/domain/ports/chain.ts'
import type { Journal } from '../../src/domain/ports/journal.ts'
import { eventually } from '../helpers/eventually.ts'
import { MemoryJournal } from '../store/memory-journal.ts'
import { alice, type ChainFixture, order, rpc, startChain } from './chain-fixture.ts'
import { expectSameChain } from './expect-same-chain.ts'

const journals: MemoryJournal<unknown>[] = []
let fixture: ChainFixture
beforeAll(async () => {
  const journal = async <Entry>(): Promise<Journal<Entry>> => {
    const made = new MemoryJournal<Entry>()
    journals.push(made as MemoryJournal<unknown>)
    return made
  }
  fixture = await startChain({ journal })
  await fixture.fund(alice)
})
beforeEach(() => full(false))
afterAll(() => fixture.chains.stop())

/** Whether the disk is full: nothing can be written then. */
function full(is: boolean): void {
  for (const journal of journals) journal.failing = is
}

const ready = () => eventually(() => expect(fixture.chains.status()).toEqual({ ok: true }))

describe('what the node did and the journal could not take', () => {
  it('is undone: nobody is funded who was not told so', async () => {
    const bob: WalletOwner = { tenant_id: 'acme', external_id: 'bob' }
    const { chain } = fixture
    const { token_address } = fixture.pool('aave USDC')
    full(true)
    const once = chain.fundWallet(bob, [{ token_address, amount: 5n, spenders: [] }]) // each attempt costs an Anvil
    await expect(once).rejects.toThrow(ChainUnavailableError)
    full(false)
    await ready()
    expect(await chain.walletBalance(bob, token_address)).toBe(0n)
    await fixture.fund(bob, 5n)
    expect(await chain.transfer(order('deposit', fixture.pool('aave USDC'), 3n, { owner: bob }))).toMatchObject({
      status: 'success',
    })
    await expectSameChain(chain)
  })

  it('is done again when it was signed: a transfer whose block was not written is carried through, once', async () => {
    const { chain } = fixture
    const pool = fixture.pool('vault USDC')
    const before = await chain.shares(alice, pool)
    const { pid } = chain
    const transfer = chain.transfer(order('deposit', pool, 1_000n, { storeSigned: async () => full(true) }))
    await eventually(() => expect(chain.pid).not.toBe(pid))
    full(false)
    const { status, shares } = await transfer
    expect(status).toBe('success')
    await ready()
    expect(await chain.shares(alice, pool)).toBe(before + shares)
    await expectSameChain(chain)
  })

  // A namespace that another process has taken can never write again.
  it('does not hold up a stop, which leaves it to the next run', async () => {
    const { chain, chains, pool } = fixture
    await rpc(chain, 'anvil_setNonce', '0x00000000000000000000000000000000000000aa', '0x1') // a last checkpoint is due
    let stopped: Promise<void> | undefined
    const storeSigned = async () => {
      stopped = chains.stop()
      full(true)
    }
    const transfer = chain.transfer(order('deposit', pool('vault USDC'), 1_000n, { storeSigned }))
    await expect(transfer).rejects.toThrow(ChainUnavailableError)
    await stopped
  })
})
