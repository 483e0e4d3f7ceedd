import { describe, expect, it } from 'vitest'
import type { Store, Write } from '../../src/domain/ports/store.ts'
import type { Transaction } from '../../src/domain/records.ts'
import type { SegmentEntry } from '../../src/store/ledger-entry.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { MemoryJournal } from './memory-journal.ts'
import { pagesOfPacked, SMALL } from './packed-pages.ts'
import { endUser, idempotencyRecord, moment, transaction } from './samples.ts'

const everything = { scope: 'alice', limit: 100 }

const put = (id: string, fields: Partial<Transaction> = {}): Write => ({
  collection: 'transactions',
  put: transaction(id, fields),
})
const remove = (id: string): Write => ({ collection: 'transactions', remove: id })

const segmentsIn = ({ lines }: MemoryJournal) =>
  lines.map((line) => JSON.parse(line)).filter((entry): entry is SegmentEntry => 'packed' in entry)

/** A store whose transactions `txn_0` to `txn_3` are packed, also in its journal. */
async function packed(journal: MemoryJournal): Promise<Store> {
  const store = await createStore(journal, SMALL)
  await store.commit([0, 1, 2, 3].map((n) => put(`txn_${n}`, { created_at: moment(n) })))
  for (const n of [1, 2]) await store.commit([put('txn_9', { amount_changed: `${n}`, created_at: moment(9) })])
  await store.close()
  expect(segmentsIn(journal).map(({ ids }) => ids)).toEqual([['txn_0', 'txn_1', 'txn_2', 'txn_3']])
  return createStore(journal, SMALL)
}

const listed = async (store: Store) => (await store.page('transactions', everything)).items

describe('packed records', () => {
  it('are read as they were put, by id and in pages, and cannot be changed', async () => {
    const store = await packed(new MemoryJournal())
    expect(await listed(store)).toEqual([
      transaction('txn_9', { amount_changed: '2', created_at: moment(9) }),
      ...[3, 2, 1, 0].map((n) => transaction(`txn_${n}`, { created_at: moment(n) })),
    ])
    const one = (await store.get('transactions', 'txn_2'))!
    expect(one).toEqual(transaction('txn_2', { created_at: moment(2) }))
    expect(Object.isFrozen(one)).toBe(true)
  })

  it('keep every character of what a response said', async () => {
    const journal = new MemoryJournal()
    const body = { name: 'Żółw 🐢 \u2028\n"', nested: [{ none: null }, 1.5, -0, ''], ['__proto__']: 'x' }
    const records = [1, 2, 3, 4].map((n) => idempotencyRecord(`key_${n}`, { body, created_at_ms: n }))
    const store = await createStore(journal, SMALL)
    await store.commit(records.map((put): Write => ({ collection: 'idempotency_keys', put })))
    for (const n of [1, 2]) await store.commit([put('txn_9', { amount_changed: `${n}` })])
    await store.close()
    expect(segmentsIn(journal)).toHaveLength(1)
    const text = JSON.stringify(await (await createStore(journal, SMALL)).get('idempotency_keys', 'key_3'))
    expect(text).toBe(JSON.stringify(records[2]))
  })

  it('give way to what is put or removed later, also when the store is opened again and once more', async () => {
    const journal = new MemoryJournal()
    const first = await packed(journal)
    await first.commit([put('txn_1', { created_at: moment(7), amount_changed: '7' }), remove('txn_2')])
    const expected = [
      transaction('txn_9', { amount_changed: '2', created_at: moment(9) }),
      transaction('txn_1', { amount_changed: '7', created_at: moment(7) }),
      transaction('txn_3', { created_at: moment(3) }),
      transaction('txn_0', { created_at: moment(0) }),
    ]
    expect(await listed(first)).toEqual(expected)
    expect(await listed(await createStore(journal, SMALL))).toEqual(expected) // as after a kill
    await first.commit([put('txn_9', { amount_changed: '2', created_at: moment(9) })])
    await first.close()
    expect(segmentsIn(journal)[0]?.gone).toEqual([1, 2])
    expect(await listed(await createStore(journal, SMALL))).toEqual(expected)
  })

  it('leave a segment of which little is left', async () => {
    const journal = new MemoryJournal()
    const store = await packed(journal)
    await store.commit(['txn_0', 'txn_1', 'txn_3'].map(remove))
    for (const n of [1, 2]) await store.commit([put('txn_9', { amount_changed: `${n}`, created_at: moment(9) })])
    await store.close()
    expect(segmentsIn(journal)).toEqual([])
    for (const each of [store, await createStore(journal, SMALL)]) {
      expect((await listed(each)).map(({ id }) => id)).toEqual(['txn_9', 'txn_2'])
    }
  })

  it('keep their place among the first that were put', async () => {
    const store = await packed(new MemoryJournal())
    for (const up_to of [0, 1, 2, 3, 4]) {
      const { items } = await store.page('transactions', { ...everything, up_to })
      expect(items.map(({ id }) => id)).toEqual([3, 2, 1, 0].filter((n) => n < up_to).map((n) => `txn_${n}`))
    }
  })

  it('are copied as they are when the journal is rewritten', async () => {
    const journal = new MemoryJournal()
    const store = await packed(journal)
    const [before] = segmentsIn(journal)
    await store.commit([4, 5, 6, 7].map((n) => put(`txn_${n}`, { created_at: moment(n) })))
    for (const n of [1, 2]) await store.commit([put('txn_9', { amount_changed: `${n}`, created_at: moment(9) })])
    await store.close()
    expect(segmentsIn(journal)).toHaveLength(2)
    expect(segmentsIn(journal)[0]).toEqual(before)
  })

  it('need no journal', async () => {
    const store = await createStore(undefined, SMALL)
    await store.commit([0, 1, 2, 3].map((n) => put(`txn_${n}`)))
    await store.close()
    expect((await listed(store)).map(({ id }) => id)).toEqual(['txn_3', 'txn_2', 'txn_1', 'txn_0'])
  })
})

describe('a journal that cannot be rewritten', () => {
  it('stays as it is, the store closes, and all is there', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal, SMALL)
    for (const n of [0, 1]) await store.commit([put('txn_1', { amount_changed: `${n}` })])
    const before = journal.lines
    journal.failing = true
    await store.close()
    expect(journal.lines).toBe(before)
    expect(await listed(await createStore(journal, SMALL))).toEqual([transaction('txn_1', { amount_changed: '1' })])
  })
})

describe('right after a store was opened', () => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `txn_${from + i}`)
  const idsIn = async (store: Store) => (await listed(store)).map(({ id }) => id)

  /** A journal of 40 transactions, `txn_10` to `txn_49`, in ten segments, an end user, and changes of before a kill. */
  async function written(): Promise<MemoryJournal> {
    const journal = new MemoryJournal()
    for (let at = 10; at < 50; at += 4) {
      const store = await createStore(journal, SMALL)
      await store.commit(ids(at, at + 4).map((id) => put(id)))
      for (const external_id of ['al', 'alice']) {
        await store.commit([{ collection: 'end_users', put: endUser('usr_1', { external_id }) }])
      }
      await store.close()
    }
    expect(segmentsIn(journal)).toHaveLength(10)
    const store = await createStore(journal, SMALL)
    await store.commit([remove('txn_11'), put('txn_12', { amount_changed: '7' })])
    return journal
  }

  it('records that are not packed are read at once, packed ones when all are in their place', async () => {
    const store = await createStore(await written(), SMALL)
    const order: string[] = []
    const reads = [idsIn(store).then(() => order.push('transactions'))]
    const counted = store.count('transactions', 'alice')
    const changed = store.get('transactions', 'txn_12')
    reads.push(store.get('end_users', 'usr_1').then((user) => order.push(user?.external_id ?? 'none')))
    await Promise.all(reads)
    expect(order).toEqual(['alice', 'transactions'])
    expect(await counted).toBe(39)
    expect((await changed)?.amount_changed).toBe('7')
    expect(store.sequence).toBe(41)
  })

  it('commits and a reset wait for their turn, and find all there was', async () => {
    const journal = await written()
    const store = await createStore(journal, SMALL)
    await Promise.all([
      store.commit([remove('txn_13'), put('txn_14', { amount_changed: '8' })]),
      store.commit([put('txn_90')]),
      store.commit([remove('txn_90'), put('txn_91')]),
    ])
    const left = ['txn_91', ...ids(14, 50).reverse(), 'txn_12', 'txn_10']
    for (const each of [store, await createStore(journal, SMALL)]) {
      expect(await idsIn(each)).toEqual(left)
      expect((await each.get('transactions', 'txn_14'))?.amount_changed).toBe('8')
      expect(each.sequence).toBe(43)
    }
    const cleared = await createStore(journal, SMALL)
    await Promise.all([cleared.commit([put('txn_92')]), cleared.clear(), cleared.commit([put('txn_93')])])
    for (const each of [cleared, await createStore(journal, SMALL)]) expect(await idsIn(each)).toEqual(['txn_93'])
  })

  it('a store that is closed loses nothing', async () => {
    const journal = await written()
    for (let i = 0; i < 3; i++) await (await createStore(journal, SMALL)).close()
    expect(await idsIn(await createStore(journal, SMALL))).toEqual([...ids(12, 50).reverse(), 'txn_10'])
  })

  it('a segment that says something else than a segment is met, and nothing is written', async () => {
    const journal = await written()
    journal.lines[4] = journal.lines[4]!.replace('"ids":[', '"ids":{')
    const { lines } = journal
    const store = await createStore(journal, SMALL)
    expect((await store.get('end_users', 'usr_1'))?.external_id).toBe('alice')
    for (const attempt of [listed(store), store.commit([put('txn_90')]), store.clear(), listed(store)]) {
      await expect(attempt).rejects.toThrow(SyntaxError)
    }
    await store.close()
    expect(journal.lines).toBe(lines)
  })
})

// More of them: packing.long.test.ts.
pagesOfPacked(25)
