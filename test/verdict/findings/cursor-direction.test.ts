import { expect, test } from 'vitest'
import { cursorDirection } from '../../../src/verdict/findings/cursor-direction.ts'
import { evidenceOf } from '../evidence.ts'
import { invalid, page } from '../lists.ts'

const judged = (...exchanges: ReturnType<typeof page>[]) => cursorDirection.judge(evidenceOf(exchanges))

test('first pages exercise nothing', () => {
  expect(judged(page({ next: 'A' }), page()).outcome).toBe('not_exercised')
})

test('there and back passes', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A', prev: 'P' }), page({ before: 'P', next: 'A' })).outcome).toBe(
    'passed',
  )
})

test('next_cursor as ending_before fails', () => {
  const [first, second] = [page({ next: 'A' }), page({ before: 'A' })]
  expect(judged(first, second)).toMatchObject({
    outcome: 'failed',
    expected: 'next_cursor as starting_after',
    came: 'next_cursor as ending_before',
    request_ids: [first.request_id, second.request_id],
  })
})

test('prev_cursor as starting_after fails when it is always so', () => {
  const back = (cursor: string) => page({ after: cursor })
  expect(judged(page({ prev: 'P' }), back('P'), page({ prev: 'Q' }), back('Q'))).toMatchObject({
    outcome: 'failed',
    came: 'prev_cursor as starting_after',
  })
})

test('once among right ones may be a test', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A' }), page({ before: 'A' })).outcome).toBe('needs_review')
})

test('the cursors of a page of one item are equal, and right in both directions', () => {
  expect(judged(page({ next: 'A', prev: 'A' }), page({ before: 'A' }), page({ after: 'A' })).outcome).toBe('passed')
})

test('cursors of other lists, made-up ones and two at once are for others to judge', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A', before: 'A', ...invalid })).outcome).toBe('not_exercised')
  expect(
    judged(page({ external_id: 'bob', next: 'A' }), page({ before: 'A', ...invalid }), page({ before: 'x' })).outcome,
  ).toBe('not_exercised')
})

test('of two lists with equal cursors, the one that was asked for shows it', () => {
  const other = page({ external_id: 'bob', prev: 'A' })
  const [first, second] = [page({ next: 'A' }), page({ before: 'A' })]
  expect(judged(other, first, second)).toMatchObject({
    outcome: 'failed',
    request_ids: [first.request_id, second.request_id],
  })
})

test('one request shows what passes', () => {
  const right = [page({ after: 'A' }), page({ after: 'A' })]
  expect(judged(page({ next: 'A' }), ...right).request_ids).toEqual([right[0]?.request_id])
})
