import { expect, test } from 'vitest'
import { cursorScope } from '../../../src/verdict/findings/cursor-scope.ts'
import { evidenceOf } from '../evidence.ts'
import { invalid, page } from '../lists.ts'

const judged = (...exchanges: ReturnType<typeof page>[]) => cursorScope.judge(evidenceOf(exchanges))

const walk = () => [page({ next: 'A' }), page({ after: 'A', next: 'B', prev: 'P' }), page({ after: 'B', prev: 'Q' })]
const portfolios = { operation: 'list_portfolios' } as const

test('one list alone exercises nothing', () => {
  expect(judged(...walk()).outcome).toBe('not_exercised')
})

test('another list begun without a cursor passes', () => {
  const other = page({ ...portfolios })
  expect(judged(...walk(), other)).toMatchObject({
    outcome: 'passed',
    request_ids: [expect.anything(), other.request_id],
  })
})

test('another list that another worker begins shows nothing of who holds a cursor', () => {
  expect(judged(...walk(), page({ ...portfolios, connection: 2 })).outcome).toBe('not_exercised')
})

test('a cursor taken along to the next list fails', () => {
  const strayed = page({ ...portfolios, after: 'B', ...invalid })
  expect(judged(...walk(), strayed)).toMatchObject({
    outcome: 'failed',
    came: 'a cursor of list_transactions of alice',
    request_ids: [expect.anything(), strayed.request_id],
  })
})

test('the cursor of another end user is of another list', () => {
  const strayed = page({ external_id: 'bob', after: 'A', ...invalid })
  const again = page({ external_id: 'carol', after: 'A', ...invalid })
  expect(judged(page({ next: 'A' }), strayed, again)).toMatchObject({
    outcome: 'failed',
    expected: expect.stringContaining('bob'),
  })
})

test('one stray cursor among right ones may be a test', () => {
  expect(judged(...walk(), page({ external_id: 'bob', after: 'A', ...invalid })).outcome).toBe('needs_review')
})

test('a changed cursor is judged by cursor-integrity', () => {
  expect(judged(...walk(), page({ after: 'changed', ...invalid })).outcome).toBe('not_exercised')
})

test('equal cursors of two lists belong to both', () => {
  const both = [
    page({ next: 'A' }),
    page({ ...portfolios, next: 'A' }),
    page({ ...portfolios, after: 'A' }),
    page({ after: 'A' }),
  ]
  expect(judged(...both).outcome).toBe('passed')
})

test('the same list begun anew shows nothing of another one', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A' }), page()).outcome).toBe('not_exercised')
})

test('a connection holds the cursor that it was given last, whatever pages without one come after it', () => {
  const other = page({ ...portfolios, next: 'Z', connection: 2 })
  const end = page({ ...portfolios, after: 'Z' })
  expect(judged(other, page({ next: 'A' }), end, page()).outcome).toBe('not_exercised')
  expect(judged(other, page({ next: 'A' }), end, page({ external_id: 'bob' })).outcome).toBe('passed')
})

test('a first page beside a cursor shows nothing while no cursor was sent', () => {
  expect(judged(page({ next: 'A' }), page({ ...portfolios })).outcome).toBe('not_exercised')
})

test('requests that are no lists begin none', () => {
  expect(judged(...walk(), { ...page(), operation: 'deposit' as const }).outcome).toBe('not_exercised')
})

test('another list asked for by its own cursor begins none', () => {
  const own = [page({ ...portfolios, next: 'Z', connection: 2 }), page({ ...portfolios, after: 'Z' })]
  expect(judged(page({ next: 'A' }), ...own, page({ after: 'A' })).outcome).toBe('not_exercised')
})

test('a stray cursor is shown', () => {
  const strayed = page({ external_id: 'bob', after: 'A', ...invalid })
  expect(judged(...walk(), strayed).request_ids).toEqual([strayed.request_id])
})
