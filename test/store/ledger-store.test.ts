import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PageQuery, SHAPES, type Write } from '../../src/domain/ports/store.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { MemoryJournal } from './memory-journal.ts'
import { Model } from './model.ts'
import { endUser, moment, transaction } from './samples.ts'

const key = fc.tuple(
  fc.integer({ min: 0, max: 8 }).map(moment),
  fc.integer({ min: 10, max: 60 }).map((n) => `id_${n}`),
)
const scope = fc.constantFrom('alice', 'bob')
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: key, scope }) },
  { weight: 1, arbitrary: fc.record({ remove: key.map(([, id]) => id) }) },
)
const query: fc.Arbitrary<PageQuery> = fc
  .record({
    scope,
    limit: fc.integer({ min: 1, max: 7 }),
    bound: fc.option(fc.record({ side: fc.constantFrom('after', 'before'), key })),
    up_to: fc.option(fc.integer({ min: 0, max: 60 })),
  })
  .map(({ bound, up_to, ...rest }) => ({
    ...rest,
    ...(bound && { [bound.side]: bound.key }),
    ...(up_to !== null && { up_to }),
  }))

const everything = { scope: 'alice', limit: 100 }

describe.each(['transactions', 'end_users'] as const)('pages of %s', (collection) => {
  const record = (id: string, created_at: string, scope: string) =>
    collection === 'transactions'
      ? transaction(id, { created_at, end_user_id: scope })
      : endUser(id, { created_at, tenant_id: scope })

  it('are those of a sorted array after any inserts, updates, moves and removals', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), { maxLength: 15 }),
        fc.array(query, { minLength: 5, maxLength: 12 }),
        async (commits, queries) => {
          const store = await createStore()
          const model = new Model()
          for (const operations of commits) {
            const writes = operations.map((op) => {
              if ('remove' in op) return { collection, remove: op.remove }
              return { collection, put: record(op.put[1], op.put[0], op.scope) }
            })
            await store.commit(writes as Write[])
            for (const op of operations) {
              if ('remove' in op) model.remove(op.remove)
              else model.put(record(op.put[1], op.put[0], op.scope))
            }
          }
          expect(store.sequence).toBe(model.sequence)
          for (const query of queries)
            expect(await store.page(collection, query)).toEqual(model.page(collection, query))
          expect(await store.count(collection, 'alice')).toBe(
            model.rows.filter(({ record }) => SHAPES[collection].list!.scope(record as never) === 'alice').length,
          )
        },
      ),
    )
  })

  it('are those of a sorted array when the list is long', async () => {
    const store = await createStore()
    const model = new Model()
    const size = 1500
    for (let i = 0; i < size; i++) {
      const n = (i * 1709) % size
      const put = record(`id_${1000 + n}`, moment(n >> 2), 'alice')
      model.put(put)
      await store.commit([{ collection, put } as Write])
    }
    for (let i = 0; i < size; i += 3) {
      model.remove(`id_${1000 + i}`)
      await store.commit([{ collection, remove: `id_${1000 + i}` }])
    }
    for (let n = 7; n < size; n += 500) {
      const bound = [moment(n >> 2), `id_${1000 + n}`]
      for (const up_to of [undefined, 0, 40, size / 2, size]) {
        for (const side of ['after', 'before'])
          for (const limit of up_to === undefined ? [1, 100, size] : [1, 100]) {
            const query = { scope: 'alice', limit, [side]: bound, ...(up_to !== undefined && { up_to }) }
            expect(await store.page(collection, query)).toEqual(model.page(collection, query))
          }
      }
    }
  })
})

describe('a commit', () => {
  it('writes all or nothing when a unique value is taken', async () => {
    const store = await createStore()
    await store.commit([{ collection: 'end_users', put: endUser('usr_1', { external_id: 'alice' }) }])
    const refused = store.commit([
      { collection: 'transactions', put: transaction('txn_1') },
      { collection: 'end_users', put: endUser('usr_2', { external_id: 'alice' }) },
    ])
    await expect(refused).rejects.toThrow('external_id: acme/alice')
    expect(await store.get('transactions', 'txn_1')).toBeUndefined()
    expect(await store.get('end_users', 'usr_2')).toBeUndefined()
    expect(store.sequence).toBe(1)
  })

  it('lets records swap or hand on a unique value, and refuses one claimed twice within', async () => {
    const store = await createStore()
    const put = (id: string, external_id: string): Write => ({
      collection: 'end_users',
      put: endUser(id, { external_id }),
    })
    await store.commit([put('usr_1', 'alice'), put('usr_2', 'bob')])
    await store.commit([put('usr_1', 'bob'), put('usr_2', 'alice')])
    await store.commit([put('usr_3', 'bob'), { collection: 'end_users', remove: 'usr_1' }])
    expect(store.find('end_users', 'external_id', 'acme/alice')?.id).toBe('usr_2')
    expect(store.find('end_users', 'external_id', 'acme/bob')?.id).toBe('usr_3')
    await expect(store.commit([put('usr_4', 'carol'), put('usr_5', 'carol')])).rejects.toThrow('carol')
    expect(store.find('end_users', 'external_id', 'acme/carol')).toBeUndefined()
  })

  it('lets one of several concurrent claims of a unique value through', async () => {
    const store = await createStore()
    const claims = ['usr_1', 'usr_2', 'usr_3'].map((id) =>
      store.commit([{ collection: 'end_users', put: endUser(id, { external_id: 'alice' }) }]),
    )
    const outcomes = (await Promise.allSettled(claims)).map(({ status }) => status)
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await store.count('end_users', 'acme')).toBe(1)
  })

  it('leaves memory, journal and sequence untouched when the write fails, and the next one works', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    await store.commit([
      { collection: 'transactions', put: transaction('txn_1') },
      { collection: 'transactions', put: transaction('txn_2') },
    ])
    const before = { page: await store.page('transactions', everything), lines: [...journal.lines] }
    journal.failing = true
    const writes: Write[] = [
      { collection: 'transactions', put: transaction('txn_1', { amount_changed: '2', created_at: moment(5) }) },
      { collection: 'transactions', remove: 'txn_2' },
      { collection: 'transactions', put: transaction('txn_3') },
    ]
    await expect(store.commit(writes)).rejects.toThrow('the disk is full')
    await expect(store.clear()).rejects.toThrow('the disk is full')
    expect(await store.page('transactions', everything)).toEqual(before.page)
    expect(store.sequence).toBe(2)
    journal.failing = false
    await store.commit([])
    expect(journal.lines).toEqual(before.lines)
    await store.commit(writes)
    const after = await store.page('transactions', everything)
    expect(after.items.map(({ id }) => id)).toEqual(['txn_1', 'txn_3'])
  })

  it('is not seen by readers before it is written', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    const open = journal.hold()
    const done = store.commit([{ collection: 'transactions', put: transaction('txn_1') }])
    await new Promise(setImmediate)
    expect(await store.get('transactions', 'txn_1')).toBeUndefined()
    expect(await store.count('transactions', 'alice')).toBe(0)
    open()
    await done
    expect(await store.get('transactions', 'txn_1')).toEqual(transaction('txn_1'))
  })

  it('keeps a copy: what the caller does to its record afterwards, or tries on one handed out, changes nothing', async () => {
    const store = await createStore()
    const mine = transaction('txn_1')
    const done = store.commit([{ collection: 'transactions', put: mine }])
    mine.amount_changed = '999'
    await done
    const handedOut = (await store.get('transactions', 'txn_1'))!
    expect(handedOut.amount_changed).toBe('1')
    expect(() => {
      handedOut.amount_changed = '999'
    }).toThrow(TypeError)
  })

  it('counts a record put again after its removal as new', async () => {
    const store = await createStore()
    await store.commit([{ collection: 'transactions', put: transaction('txn_1') }])
    await store.commit([{ collection: 'transactions', put: transaction('txn_1', { amount_changed: '2' }) }])
    expect(store.sequence).toBe(1)
    await store.commit([
      { collection: 'transactions', remove: 'txn_1' },
      { collection: 'transactions', put: transaction('txn_1') },
    ])
    expect(store.sequence).toBe(2)
    expect((await store.page('transactions', { ...everything, up_to: 1 })).items).toEqual([])
  })
})

describe('the store', () => {
  const odd = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', '', '0']

  it.each(odd)('takes %j as an id, a unique value and a scope', async (id) => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    expect(await store.get('end_users', id)).toBeUndefined()
    expect(await store.count('transactions', id)).toBe(0)
    await store.commit([
      { collection: 'end_users', put: endUser(id) },
      { collection: 'tenants', put: { tenant_id: id, slug: id, client_id: id } as never },
      { collection: 'transactions', put: transaction(id, { end_user_id: id }) },
    ])
    for (const each of [store, await createStore(journal)]) {
      expect((await each.get('end_users', id))?.id).toBe(id)
      expect(each.find('tenants', 'slug', id)?.tenant_id).toBe(id)
      expect((await each.page('transactions', { scope: id, limit: 1 })).items).toHaveLength(1)
    }
    expect({}).not.toHaveProperty('external_id')
  })

  it('comes back from its journal as it was', async () => {
    const journal = new MemoryJournal()
    const store = await createStore(journal)
    for (const n of [3, 1, 2]) {
      await store.commit([{ collection: 'transactions', put: transaction(`txn_${n}`, { created_at: moment(n) }) }])
    }
    await store.close()
    const reopened = await createStore(journal)
    expect(reopened.sequence).toBe(3)
    for (const up_to of [0, 1, 2, 3]) {
      const query = { ...everything, up_to }
      expect(await reopened.page('transactions', query)).toEqual(await store.page('transactions', query))
    }
  })

  it('is empty after clear, and counts from zero', async () => {
    const store = await createStore(new MemoryJournal())
    await store.commit([{ collection: 'end_users', put: endUser('usr_1') }])
    await store.clear()
    expect(await store.get('end_users', 'usr_1')).toBeUndefined()
    expect(store.find('end_users', 'external_id', 'acme/usr_1')).toBeUndefined()
    expect(await store.page('end_users', { scope: 'acme', limit: 1 })).toEqual({
      items: [],
      has_next: false,
      has_previous: false,
    })
    expect(store.sequence).toBe(0)
    await store.commit([{ collection: 'end_users', put: endUser('usr_1') }])
    expect(store.sequence).toBe(1)
  })

  it('refuses what a collection does not offer', async () => {
    const store = await createStore()
    await store.commit([{ collection: 'transactions', put: transaction('txn_1') }])
    expect(() => store.find('transactions', 'tx_hash', '0x')).toThrow(RangeError)
    await expect(store.page('transactions', { ...everything, after: ['a'], before: ['b'] })).rejects.toThrow(RangeError)
  })
})
