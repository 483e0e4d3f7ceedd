import { beforeEach, expect, test } from 'vitest'
import type { Store } from '../../src/domain/ports/store.ts'
import { allOf, pagesOf } from '../../src/domain/walk.ts'
import { createStore } from '../../src/store/ledger-store.ts'
import { moment, transaction } from '../store/samples.ts'

let store: Store
beforeEach(async () => {
  store = await createStore()
})

const put = (...numbers: number[]) =>
  store.commit(
    numbers.map((n) => ({
      collection: 'transactions' as const,
      put: transaction(`txn_${n}`, { created_at: moment(n) }),
    })),
  )

async function pages(limit: number, onPage: (numbers: string[]) => Promise<void> = async () => {}) {
  const met: string[][] = []
  for await (const page of pagesOf(store, 'transactions', 'alice', limit)) {
    met.push(page.map(({ id }) => id))
    await onPage(met.at(-1)!)
  }
  return met
}

test.each([0, 1, 2, 3, 4, 5])('every one of %i records is met once, in list order', async (count) => {
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  await put(...numbers)
  const newestFirst = numbers.toReversed().map((n) => `txn_${n}`)
  const met = await pages(2)
  expect(met.flat()).toEqual(newestFirst)
  expect(met.map((page) => page.length).every((length, i) => length === Math.min(2, count - 2 * i))).toBe(true)
  expect((await allOf(store, 'transactions', 'alice')).map(({ id }) => id)).toEqual(newestFirst)
  expect(await allOf(store, 'transactions', 'bob')).toEqual([])
})

test('what comes meanwhile is met if it stands behind the page read last', async () => {
  await put(2, 3, 4, 5)
  const met = await pages(2, async (page) => {
    if (page.includes('txn_5')) await put(1, 6)
  })
  expect(met).toEqual([['txn_5', 'txn_4'], ['txn_3', 'txn_2'], ['txn_1']])
})

test('between two pages, others have their turn', async () => {
  await put(1, 2, 3, 4)
  const order: string[] = []
  setImmediate(() => order.push('another'))
  await pages(2, async (page) => void order.push(page.join()))
  expect(order).toEqual(['txn_4,txn_3', 'another', 'txn_2,txn_1'])
})
