import { describe, expect, test } from 'vitest'
import type { Evidence } from '../../../src/verdict/finding.ts'
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
  const restart = page({ at: 15 })
  const [given, refused] = begun()
  expect(judged([given!, refused!, restart])).toMatchObject({
    outcome: 'passed',
    explanation: '1 time a cursor was refused as expired, and the next request of that list was for its first page.',
    request_ids: [refused?.request_id, restart.request_id],
  })
  expect(judged([...begun(), page({ at: 20, connection: 2 })]).outcome).toBe('passed')
})

test('the same cursor again fails, also when the first page comes in the end', () => {
  const repeated = page({ after: 'A', at: 20, ...expired })
  expect(judged([...begun(), repeated])).toMatchObject({ outcome: 'failed', came: 'the same cursor' })
  expect(judged([...begun(), repeated, page({ at: 30 })]).outcome).toBe('failed')
})

test('the same cursor from new connections fails when nobody begins again', () => {
  expect(judged([...begun(), page({ after: 'A', at: 20, connection: 2, ...expired })])).toMatchObject({
    outcome: 'failed',
    came: 'the same cursor',
  })
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

test('a first page that is refused as expired is none of a cursor', () => {
  expect(judged([page({ at: 10, ...expired }), page({ at: 20 })]).outcome).toBe('not_exercised')
})

test('what failed is shown with what came instead', () => {
  const [given, refused] = begun()
  const other = page({ before: 'P', at: 20 })
  expect(judged([given!, refused!, other]).request_ids).toEqual([refused?.request_id, other.request_id])
  expect(judged([given!, refused!]).request_ids).toEqual([refused?.request_id])
  expect(judged([given!, refused!], { ended: false }).request_ids).toEqual([refused?.request_id])
})

describe('among others that were followed', () => {
  const followed = [page({ external_id: 'bob', after: 'B', at: 40, ...expired }), page({ external_id: 'bob', at: 50 })]
  const third = page({ external_id: 'cleo', after: 'C', at: 60, ...expired })

  test('another old cursor may be a test, and is shown', () => {
    const wrong = page({ external_id: 'cleo', after: 'D', at: 70 })
    expect(judged([...begun(), page({ at: 20 }), ...followed, third, wrong])).toEqual({
      outcome: 'needs_review',
      explanation:
        '2 times an expired cursor led back to the first page, and 1 time it did not. That may be a test of the refusal, or another client.',
      request_ids: [third.request_id],
    })
  })

  test('one that was let be is shown before one that went on wrongly', () => {
    const wrong = page({ external_id: 'cleo', after: 'D', at: 70 })
    const letBe = page({ external_id: 'dora', after: 'E', at: 80, ...expired })
    expect(judged([...followed, third, wrong, letBe]).request_ids).toEqual([letBe.request_id])
  })
})

test('a repetition before the first page, on the same connection, is one; after it, it is none', () => {
  const again = (at: number) => page({ after: 'A', at, ...expired })
  expect(judged([...begun(), again(15), page({ at: 20 })]).outcome).toBe('failed')
  expect(judged([...begun(), page({ at: 15 }), page({ after: 'A', at: 20 })]).outcome).toBe('passed')
})

test('another old cursor on another connection may be of another worker', () => {
  expect(judged([...begun(), page({ after: 'B', at: 20, connection: 2 })])).toMatchObject({ came: 'nothing' })
})

test('what came before, in the same millisecond, is no repetition', () => {
  const refused = page({ after: 'A', at: 10, until: 10, ...expired })
  expect(
    judged([page({ next: 'A' }), page({ after: 'A', at: 10, until: 10 }), refused, page({ at: 20 })]).outcome,
  ).toBe('passed')
})
