import { expect, test } from 'vitest'
import { cursorIntegrity } from '../../../src/verdict/findings/cursor-integrity.ts'
import { evidenceOf } from '../evidence.ts'
import { invalid, page } from '../lists.ts'

const judged = (...[exchanges, rest]: Parameters<typeof evidenceOf>) =>
  cursorIntegrity.judge(evidenceOf(exchanges, rest))

test('lists of one page exercise nothing', () => {
  expect(judged([page(), page()]).outcome).toBe('not_exercised')
})

test('cursors sent back as they came pass, also those of pages before', () => {
  const walk = [page({ next: 'A' }), page({ after: 'A', next: 'B', prev: 'P' }), page({ before: 'P', next: 'A' })]
  expect(judged(walk)).toMatchObject({ outcome: 'passed', request_ids: [walk[1]!.request_id] })
})

test('a client whose first cursor is a changed one fails', () => {
  const walk = [page({ next: 'A' }), page({ after: 'a', ...invalid })]
  expect(judged(walk)).toMatchObject({ outcome: 'failed', came: '"a"', request_ids: [walk[1]!.request_id] })
})

test('one changed cursor among right ones may be a test', () => {
  expect(judged([page({ next: 'A' }), page({ after: 'A' }), page({ after: 'a', ...invalid })]).outcome).toBe(
    'needs_review',
  )
})

test('a cursor made up where none was given out may be a test', () => {
  expect(judged([page({ after: 'garbage', ...invalid })]).outcome).toBe('needs_review')
  expect(judged([page({ external_id: 'bob', next: 'A' }), page({ after: 'garbage', ...invalid })]).outcome).toBe(
    'needs_review',
  )
})

test('a cursor that the service accepts is genuine, wherever it came from', () => {
  expect(judged([page({ next: 'A' }), page({ after: 'older' })]).outcome).toBe('not_exercised')
})

test('a cursor may be older than what is on record', () => {
  const walk = [page({ next: 'A' }), page({ after: 'older', ...invalid })]
  expect(judged(walk, { forgotten: { room: 1, deleted: 0, reset: 0 } }).outcome).toBe('needs_review')
})

test('a genuine cursor refused by a fault is no mistake of the client', () => {
  const walk = [page({ next: 'A' }), page({ after: 'A', ...invalid }), page({ next: 'A' }), page({ after: 'A' })]
  expect(judged(walk).outcome).toBe('passed')
})

test('eight workers in different lists do not confuse it', () => {
  const users = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const walks = [
    ...users.map((external_id) => page({ external_id, next: `next-${external_id}` })),
    ...users.map((external_id) => page({ external_id, after: `next-${external_id}` })),
  ]
  expect(judged(walks).outcome).toBe('passed')
})

test('a cursor may stand in an answer that is cut in the record', () => {
  const cut = page({ next: 'A' })
  cut.response = { ...cut.response!, body_cut: true }
  const pools = { ...cut, operation: 'token' as const }
  const [given, changed] = [page({ next: 'A' }), page({ after: 'a', ...invalid })]
  expect(judged([cut, changed]).outcome).toBe('needs_review')
  expect(judged([given, pools, changed, { ...page(), response: null }]).outcome).toBe('failed')
})

test('a cursor is changed only where one had been given out before, on that list', () => {
  const changed = page({ after: 'a', ...invalid })
  expect(judged([changed, page({ next: 'A' })]).outcome).toBe('needs_review')
  expect(judged([page(), changed, page({ next: 'A' })]).outcome).toBe('needs_review')
  expect(judged([page({ after: 'a', next: 'A', refused: invalid.refused }), page()]).outcome).toBe('needs_review')
  expect(judged([page({ next: 'A' }), changed, page({ next: 'B' })]).outcome).toBe('failed')
})

test('two requests show what failed', () => {
  const changed = ['a', 'b', 'c'].map((after) => page({ after, ...invalid }))
  expect(judged([page({ next: 'A' }), ...changed]).request_ids).toEqual(
    changed.slice(0, 2).map(({ request_id }) => request_id),
  )
})
