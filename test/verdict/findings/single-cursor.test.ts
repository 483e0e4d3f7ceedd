import { expect, test } from 'vitest'
import { singleCursor } from '../../../src/verdict/findings/single-cursor.ts'
import { evidenceOf } from '../evidence.ts'
import { page } from '../lists.ts'

const judged = (...exchanges: ReturnType<typeof page>[]) => singleCursor.judge(evidenceOf(exchanges))

const conflict = { refused: { status: 400, code: 'conflicting_cursors' } }
const twoPages = () => [page({ next: 'A' }), page({ after: 'A', next: 'B', prev: 'P' })]

test('a list of two pages exercises nothing: the first has no page before it', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A', prev: 'P' })).outcome).toBe('not_exercised')
})

test('going on from the middle with one cursor passes, in either direction', () => {
  expect(judged(...twoPages(), page({ after: 'B', prev: 'Q' })).outcome).toBe('passed')
  expect(judged(...twoPages(), page({ before: 'P' })).outcome).toBe('passed')
})

test('a client that sends both as soon as it has both fails, though its second page was right', () => {
  const both = page({ after: 'B', before: 'P', ...conflict })
  expect(judged(...twoPages(), both)).toMatchObject({ outcome: 'failed', request_ids: [both.request_id] })
})

test('a page of one item gives the same cursor twice: sent twice, that fails as well', () => {
  expect(
    judged(page({ next: 'A' }), page({ after: 'A', next: 'B', prev: 'B' }), page({ after: 'B', before: 'B' })).outcome,
  ).toBe('failed')
})

test('once among right ones may be a test', () => {
  const walk = [...twoPages(), page({ after: 'B', prev: 'Q' })]
  expect(judged(...walk, page({ after: 'B', before: 'P', ...conflict })).outcome).toBe('needs_review')
})

test('cursors chosen to be refused are a test', () => {
  expect(judged(page({ after: 'x', before: 'y', ...conflict })).outcome).toBe('needs_review')
  expect(
    judged(page({ next: 'A' }), page({ after: 'A' }), page({ after: 'A', before: 'A', ...conflict })).outcome,
  ).toBe('needs_review')
})

test('a client that sends its first cursor in both directions fails', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A', before: 'A', ...conflict })).outcome).toBe('failed')
})

test('what was sent is said and shown', () => {
  const right = page({ after: 'B', prev: 'Q' })
  expect(judged(...twoPages(), right, page({ before: 'P' })).request_ids).toEqual([right.request_id])
  const both = [1, 2, 3, 4].map(() => page({ after: 'B', before: 'P', ...conflict }))
  expect(judged(...twoPages(), ...both)).toEqual({
    outcome: 'failed',
    explanation: '4 requests sent starting_after and ending_before at once, 1 one of them.',
    expected: 'starting_after or ending_before',
    came: 'both',
    request_ids: both.slice(0, 2).map(({ request_id }) => request_id),
  })
  const doubtful = page({ after: 'x', before: 'y', ...conflict })
  expect(judged(doubtful).request_ids).toEqual([doubtful.request_id])
})

test('a pair of which one cursor is made up was chosen to be refused', () => {
  expect(judged(page({ next: 'A' }), page({ after: 'A', before: 'y', ...conflict })).outcome).toBe('needs_review')
})

test('two cursors of different answers are no habit of sending whatever the last answer gave out', () => {
  const walk = [page({ next: 'A' }), page({ after: 'A', prev: 'P' }), page({ next: 'C' }), page({ after: 'C' })]
  expect(judged(...walk, page({ after: 'C', before: 'P', ...conflict })).outcome).toBe('needs_review')
})

test('a page counts as one in the middle when one of its answers had both', () => {
  const [first, second] = [page({ next: 'A' }), page({ after: 'A', next: 'B', prev: 'P' })]
  expect(judged(first, second, page({ next: 'B' }), page({ after: 'B' })).outcome).toBe('passed')
})
