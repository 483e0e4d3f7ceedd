import { expect, test } from 'vitest'
import { booked, transfer } from '../oracle/story.ts'
import { comparesAnyBooks } from './any-books.ts'
import { findings, row } from './story.ts'

comparesAnyBooks(5)

test('rows are matched, though they are ten thousand', () => {
  const numbers = Array.from({ length: 10_000 }, (_, i) => i)
  // Half of them ask for everything, and fit any of the withdrawals that did; the others have the amount that was carried out.
  const exchanges = numbers.map((i) => transfer({ key: `k${i}`, operation: 'withdraw', amount: '77777', at: i }))
  const all = numbers.map((i) => booked(`k${i}`, { type: 'withdraw', amount_minor: String(i) }))
  const rows = numbers.map((i) => row({ type: 'withdraw', amount_minor: i % 2 ? '77777' : String(i) }))
  expect(findings({ exchanges, booked: all, rows })).toEqual([])
  expect(findings({ exchanges, booked: all, rows: rows.slice(2) })).toHaveLength(2)
  const equal = numbers.map(() => row({ type: 'withdraw', amount_minor: '77777' }))
  expect(findings({ exchanges, booked: all, rows: equal })).toEqual([])
})
