import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Store, Write } from '../../src/domain/ports/store.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { MemoryJournal } from './memory-journal.ts'
import { endUser, moment, portfolio, transaction } from './samples.ts'

const ids = ['usr_1', 'usr_2', 'usr_3', 'usr_4']
const names = ['alice', 'bob', 'carol']
const n = fc.integer({ min: 0, max: 5 })

const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...names), n).map(([id, external_id, at]): Write => {
      return { collection: 'end_users', put: endUser(id, { external_id, created_at: moment(at) }) }
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(...ids).map((remove): Write => ({ collection: 'end_users', remove })) },
  {
    weight: 2,
    arbitrary: fc.tuple(n, n).map(([id, at]): Write => {
      return { collection: 'transactions', put: transaction(`txn_${id}`, { created_at: moment(at) }) }
    }),
  },
  { weight: 1, arbitrary: n.map((id): Write => ({ collection: 'transactions', remove: `txn_${id}` })) },
)
const commits = fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 6 })

/** Everything a store shows of the records that the commits above touch. */
async function shown(store: Store) {
  const sequence = store.sequence
  const snapshots = Array.from({ length: sequence + 1 }, (_, up_to) => up_to)
  return {
    sequence,
    end_users: await Promise.all(ids.map((id) => store.get('end_users', id))),
    by_name: names.map((name) => store.find('end_users', 'external_id', `acme/${name}`)),
    counts: [await store.count('end_users', 'acme'), await store.count('transactions', 'alice')],
    pages: await Promise.all(
      snapshots.flatMap((up_to) => [
        store.page('end_users', { scope: 'acme', limit: 100, up_to }),
        store.page('transactions', { scope: 'alice', limit: 100, up_to }),
      ]),
    ),
  }
}

const outcome = (commit: Promise<void>) =>
  commit.then(
    () => 'written',
    (error: Error) => error.message,
  )

describe('a ledger with a journal', () => {
  it('holds after any commits at once what it holds after the same one by one, also when opened again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commits, { maxLength: 6 }), async (rounds) => {
        const journal = new MemoryJournal()
        const store = await createStore(journal)
        const plain = await createStore()
        for (const round of rounds) {
          const atOnce = await Promise.all(round.map((writes) => outcome(store.commit(writes))))
          const oneByOne: string[] = []
          for (const writes of round) oneByOne.push(await outcome(plain.commit(writes)))
          expect(atOnce).toEqual(oneByOne)
        }
        const expected = await shown(plain)
        expect(await shown(store)).toEqual(expected)
        expect(await shown(await createStore(journal))).toEqual(expected)
      }),
    )
  })

  it('writes commits that come together, or while one is written, in one entry', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    const open = journal.hold()
    const put = (i: number) => store.commit([{ collection: 'transactions', put: transaction(`txn_${i}`) }])
    const first = put(0)
    await new Promise(setImmediate)
    const rest = Array.from({ length: 64 }, (_, i) => put(i + 1))
    open()
    await Promise.all([first, ...rest])
    expect(journal.lines).toHaveLength(2)
    expect(store.sequence).toBe(65)
  })

  it('writes no more for a commit the more it holds', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    for (let i = 100; i < 200; i++) {
      await store.commit([{ collection: 'transactions', put: transaction(`txn_${i}`) }])
    }
    expect(journal.lines.at(-1)!.length).toBeLessThanOrEqual(journal.lines[0]!.length + 4) // digits
  })

  it('refuses a unique value only when it was written', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    const claim = (id: string) =>
      store.commit([{ collection: 'end_users', put: endUser(id, { external_id: 'alice' }) }])
    let writes = 0
    journal.append = async (entry) => {
      writes += 1
      if (writes === 1) throw new Error('the disk is full')
      journal.lines.push(JSON.stringify(entry))
    }
    const outcomes = await Promise.all(['usr_1', 'usr_2', 'usr_3'].map((id) => outcome(claim(id))))
    expect(outcomes).toEqual(['the disk is full', 'written', expect.stringContaining('acme/alice')])
    expect(await shown(await createStore(journal))).toEqual(await shown(store))
  })

  it('fails all commits of a write that fails, and keeps nothing of them', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    journal.failing = true
    const put = (i: number) => store.commit([{ collection: 'transactions', put: transaction(`txn_${i}`) }])
    expect(await Promise.all([1, 2, 3].map((i) => outcome(put(i))))).toEqual(Array(3).fill('the disk is full'))
    journal.failing = false
    await put(3)
    expect(await store.count('transactions', 'alice')).toBe(1)
    expect(await shown(await createStore(journal))).toEqual(await shown(store))
  })

  it('clears between the commits before and after it', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    const put = (id: string) => store.commit([{ collection: 'transactions', put: transaction(id) }])
    await Promise.all([put('txn_1'), put('txn_2'), store.clear(), put('txn_3')])
    for (const each of [store, await createStore(journal)]) {
      expect((await each.page('transactions', { scope: 'alice', limit: 9 })).items.map(({ id }) => id)).toEqual([
        'txn_3',
      ])
      expect(each.sequence).toBe(1)
    }
  })

  it('keeps the business time of its last write, also when it is rewritten', async () => {
    const journal = new MemoryJournal()
    let now = 5
    const store = await createStore(journal, undefined, undefined, () => now)
    expect(store.at).toBe(0)
    await store.commit([{ collection: 'transactions', put: transaction('txn_1') }])
    now = 8
    await store.commit([{ collection: 'transactions', put: transaction('txn_2') }])
    expect((await createStore(journal)).at).toBe(8)
    expect((await createStore(new MemoryJournal(), undefined, store.entries())).at).toBe(8)
    await store.clear()
    expect([store.at, (await createStore(journal)).at]).toEqual([0, 0])
  })

  it('rewrites the journal at open when most of it is superseded, and only then', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    const jars = Array.from({ length: 250 }, (_, i) => `jar_${i}`)
    const round = (deposited: string) =>
      Promise.all(jars.map((id) => store.commit([{ collection: 'portfolios', put: portfolio(id, { deposited }) }])))
    const kept = async () => {
      const reopened = await createStore(journal)
      expect(reopened.sequence).toBe(251)
      expect(await reopened.count('portfolios', 'alice')).toBe(250)
      expect((await reopened.get('portfolios', 'jar_7'))?.deposited).toBe('5')
      return reopened
    }
    await store.commit([{ collection: 'transactions', put: transaction('txn_1') }])
    for (const deposited of ['1', '2', '3', '4']) await round(deposited)
    await store.commit([{ collection: 'transactions', remove: 'txn_1' }])
    const before = journal.lines
    await createStore(journal)
    expect(journal.lines).toBe(before)

    await round('5')
    await kept()
    expect(journal.lines).not.toBe(before)
    expect(journal.lines).toHaveLength(3)
    const rewritten = journal.lines
    await kept()
    expect(journal.lines).toBe(rewritten)
  })
})
