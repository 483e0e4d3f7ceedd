import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PageQuery, Write } from '../../src/domain/ports/store.ts'
import type { IdempotencyRecord, Transaction } from '../../src/domain/records.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { MemoryJournal } from './memory-journal.ts'
import { Model } from './model.ts'
import { idempotencyRecord, moment, transaction } from './samples.ts'

/** A segment is made of all that is packed together, so that closing a store waits for it. */
export const SMALL = { batch: 4, segment: 4, garbage: 0, garbageUnderWay: 6 }

const SCOPES = ['alice', 'bob']
const place = fc.record({ id: fc.integer({ min: 10, max: 40 }), at: fc.integer({ min: 0, max: 8 }), scope: fc.nat(1) })
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ puts: fc.array(place, { minLength: 1, maxLength: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ removes: fc.array(fc.integer({ min: 10, max: 40 }), { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.constantFrom('close' as const, 'kill' as const, 'kill while closing' as const) },
  { weight: 2, arbitrary: fc.record({ turns: fc.integer({ min: 1, max: 20 }) }) },
)
const query = fc.record({
  scope: fc.nat(1),
  limit: fc.integer({ min: 1, max: 7 }),
  bound: fc.option(fc.record({ side: fc.constantFrom('after' as const, 'before' as const), place })),
  up_to: fc.option(fc.integer({ min: 0, max: 60 })),
})

/** A collection that is packed, and records of it at a place. */
const COLLECTIONS = {
  transactions: {
    scopeOf: (scope: number) => SCOPES[scope]!,
    key: (id: string, at: number) => [moment(at), id],
    record: (id: string, at: number, scope: string): Transaction | IdempotencyRecord =>
      transaction(id, { created_at: moment(at), end_user_id: scope }),
  },
  idempotency_keys: {
    scopeOf: () => 'all',
    key: (id: string, at: number) => [String(at).padStart(15, '0'), id],
    record: (id: string, at: number): Transaction | IdempotencyRecord =>
      idempotencyRecord(id, { created_at_ms: at, body: { at } }),
  },
}

/** Compares pages with those of a sorted array, after so many random histories of each collection. */
export function pagesOfPacked(runs: number): void {
  describe.each(['transactions', 'idempotency_keys'] as const)('pages of packed %s', (collection) => {
    const { scopeOf, key, record } = COLLECTIONS[collection]
    const idOf = (id: number) => `id_${id}`

    it('are those of a sorted array, whatever is packed, rewritten, killed and opened in between', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 25 }),
          fc.array(query, { minLength: 3, maxLength: 8 }),
          fc.record({ batch: fc.integer({ min: 1, max: 8 }), segment: fc.integer({ min: 1, max: 5 }) }),
          async (steps, queries, packing) => {
            const sizes = { ...SMALL, ...packing }
            const model = new Model()
            let journal = new MemoryJournal()
            let store = await createStore(journal, sizes)
            const isTrue = async () => {
              expect(store.sequence).toBe(model.sequence)
              for (const { scope, limit, bound, up_to } of queries) {
                const asked: PageQuery = {
                  scope: scopeOf(scope),
                  limit,
                  ...(bound && { [bound.side]: key(idOf(bound.place.id), bound.place.at) }),
                  ...(up_to !== null && { up_to }),
                }
                expect(await store.page(collection, asked)).toEqual(model.page(collection, asked))
              }
              for (const row of model.rows) expect(await store.get(collection, row.record.id)).toEqual(row.record)
            }
            const reopen = async (lines: string[]) => {
              journal = new MemoryJournal()
              journal.lines = [...lines]
              store = await createStore(journal, sizes)
            }
            for (const step of steps) {
              if (step === 'close') await store.close()
              if (step === 'kill while closing') {
                // What is written anew has not taken the old journal's place yet.
                journal.hold()
                void store.close()
                await new Promise(setImmediate)
              }
              if (typeof step === 'string') await reopen(journal.lines)
              else if ('turns' in step) for (let i = 0; i < step.turns; i++) await new Promise(setImmediate)
              else if ('puts' in step) {
                const records = step.puts.map(({ id, at, scope }) => record(idOf(id), at, scopeOf(scope)))
                await store.commit(records.map((put) => ({ collection, put }) as Write))
                for (const one of records) model.put(one)
              } else {
                await store.commit(step.removes.map((id) => ({ collection, remove: idOf(id) })))
                for (const id of step.removes) model.remove(idOf(id))
              }
              await isTrue()
            }
          },
        ),
        { numRuns: runs },
      )
    })
  })
}
