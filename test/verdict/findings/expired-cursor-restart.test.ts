import { expect, test } from 'vitest'
import type { Evidence } from '../../../src/verdict/evidence.ts'
import { expiredCursorRestart } from '../../../src/verdict/findings/expired-cursor-restart.ts'
import { evidenceOf } from '../evidence.ts'
import { expired, page } from '../lists.ts'

const judged = (exchanges: ReturnType<typeof page>[], rest: Partial<Evidence> = {}) =>
  expiredCursorRestart.judge(evidenceOf(exchanges, rest))

const begun = () => [page({ next: 'A', at: 0 }), page({ after: 'A', at: 10, ...expired })]

test('without an expired cursor there is nothing to judge', () => {
  expect(judged([page({ next: 'A' }), page({ after: 'A' })]).outcome).toBe('not_exercised')
})

test('the first page next passes, whichever connection it comes on', () => {
  expect(judged([...begun(), page({ at: 20 })]).outcome).toBe('passed')
  expect(judged([...begun(), page({ at: 20, connection: 2 })]).outcome).toBe('passed')
})

test('the same cursor again fails, also when the first page comes in the end', () => {
  const repeated = page({ after: 'A', at: 20, ...expired })
  expect(judged([...begun(), repeated])).toMatchObject({ outcome: 'failed', came: 'the same cursor' })
  expect(judged([...begun(), repeated, page({ at: 30 })]).outcome).toBe('failed')
})

test('the same cursor from new connections fails when nobody begins again', () => {
  expect(judged([...begun(), page({ after: 'A', at: 20, connection: 2, ...expired })]).outcome).toBe('failed')
})

test('another old cursor fails', () => {
  expect(judged([...begun(), page({ before: 'P', at: 20, ...expired })])).toMatchObject({
    outcome: 'failed',
    came: 'another cursor',
  })
})

test('nothing more of that list fails once the client has ended, whatever else it did', () => {
  const other = page({ operation: 'list_portfolios', at: 20 })
  expect(judged([...begun(), other])).toMatchObject({ outcome: 'failed', came: 'nothing' })
  expect(judged([...begun(), other], { ended: false }).outcome).toBe('needs_review')
})

test('the first page of another end user is none of this list', () => {
  expect(judged([...begun(), page({ external_id: 'bob', at: 20 })]).outcome).toBe('failed')
})

test('workers in the middle of the same list, with equal cursors, do not confuse it', () => {
  const others = [2, 3].map((connection) => page({ after: 'A', at: 12 + connection, connection, ...expired }))
  const restarts = [1, 2, 3].map((connection) => page({ connection, at: 30 + connection }))
  expect(judged([...begun(), ...others, ...restarts]).outcome).toBe('passed')
})

test('a request that was under way already is no repetition', () => {
  expect(
    judged([
      page({ next: 'A' }),
      page({ after: 'A', at: 10, ...expired }),
      page({ after: 'A', at: 12 }),
      page({ at: 30 }),
    ]).outcome,
  ).toBe('passed')
})

test('one that was let be among others that were followed may be a test', () => {
  const unfollowed = page({ external_id: 'bob', after: 'B', at: 40, ...expired })
  expect(judged([...begun(), page({ at: 20 }), unfollowed]).outcome).toBe('needs_review')
})
