import { expect, test } from 'vitest'
import { clientTimeout } from '../../../src/verdict/findings/client-timeout.ts'
import { evidenceOf } from '../evidence.ts'
import { ABANDONED, DROPPED, list, token, transfer } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => clientTimeout.judge(evidenceOf(exchanges))
const early = transfer(1, 0, { ...ABANDONED, until: 5000 })

test('a client that gives up after five seconds and goes on fails', () => {
  expect(judged(early, transfer(1, 5300))).toMatchObject({
    outcome: 'failed',
    came: '5.0 s',
    request_ids: [early.request_id],
  })
  expect(judged(early, list(5300)).outcome).toBe('failed')
})

test('one that was ended from outside, or began anew, needs review', () => {
  expect(judged(early).outcome).toBe('needs_review')
  expect(judged(early, token(5100), transfer(1, 5300)).outcome).toBe('needs_review')
  expect(judged(early, transfer(2, 5300, { external_id: 'bob' })).outcome).toBe('needs_review')
  expect(judged(transfer(2, 0, { until: 45_000 }), early).outcome).toBe('needs_review')
})

test('the shortest wait after which it went on is shown, and how often it was so', () => {
  const waits = [8000, 5000, 6000].map((took, n) =>
    transfer(n, n * 10_000, { ...ABANDONED, external_id: `user-${n}`, until: n * 10_000 + took }),
  )
  const next = [0, 1, 2].map((n) => list(n * 10_000 + 9000, [], { external_id: `user-${n}` }))
  expect(judged(...waits, ...next)).toEqual({
    outcome: 'failed',
    explanation:
      "The client gave up user-1's deposit of 1000 minor units after 5.0 s. It gave up 3 transfers before 60 s.",
    expected: 'a timeout of at least 60 s',
    came: '5.0 s',
    request_ids: [waits[1]?.request_id],
  })
  expect(judged(...waits, next[2]!).explanation).toBe(
    "The client gave up user-2's deposit of 1000 minor units after 6.0 s.",
  )
  expect(judged(...waits)).toEqual({
    outcome: 'needs_review',
    explanation:
      "The client gave up user-1's deposit of 1000 minor units after 5.0 s. It may have been ended from outside.",
    request_ids: [waits[1]?.request_id],
  })
})

test('going on while the transfer is under way is no sign that its client is alive', () => {
  expect(judged(early, list(4000)).outcome).toBe('needs_review')
  expect(judged(list(0, [], { until: 6000 }), early).outcome).toBe('needs_review')
  expect(judged(early, list(5000)).outcome).toBe('failed')
})

test.each([
  ['an answer', transfer(1, 0, { until: 61_000 }), '61.0 s'],
  ['a drop', transfer(1, 0, { ...DROPPED, until: 60_000 }), '60.0 s'],
  ['leaving after a minute', transfer(1, 0, { ...ABANDONED, until: 60_010 }), '60.0 s'],
])('the longest wait is proved by %s', (_what, exchange, wait) => {
  const shorter = [2, 3].map((n) => transfer(n, n, { until: 20_000 }))
  const judgement = judged(shorter[0]!, exchange, shorter[1]!)
  expect(judgement).toMatchObject({ outcome: 'passed', request_ids: [exchange.request_id] })
  expect(judgement.explanation).toContain(wait)
})

test('short waits say how long they were', () => {
  expect(judged(transfer(1, 0, { until: 55_000 }))).toMatchObject({
    outcome: 'not_exercised',
    explanation: 'The longest wait for a transfer was 55.0 s; only one of 60 s shows that the client waits so long.',
  })
})

test('a timeout of 50 seconds fails when the client goes on, and is not proved otherwise', () => {
  const gone = transfer(1, 0, { ...ABANDONED, until: 50_000 })
  expect(judged(gone, transfer(1, 50_250))).toMatchObject({ outcome: 'failed', came: '50.0 s' })
  expect(judged(gone).outcome).toBe('needs_review')
  expect(judged(transfer(1, 0, { until: 49_000 })).outcome).toBe('not_exercised')
})

test('lists that were given up exercise nothing', () => {
  expect(judged(list(0, [], { ...ABANDONED, until: 5000 }), list(6000)).outcome).toBe('not_exercised')
})

test('a wait of 59.5 seconds is long enough, and it is said how it ended', () => {
  const explanation = (parts: object) => judged(transfer(1, 0, { ...parts, until: 59_500 })).explanation
  expect(explanation({})).toBe('The longest wait for a transfer was 59.5 s; the rule asks for at least 60 s.')
  expect(explanation(ABANDONED)).toBe(
    'The longest wait for a transfer was 59.5 s, and then the client left; the rule asks for at least 60 s.',
  )
})

test('a wait whose end nobody knows proves nothing', () => {
  expect(judged(transfer(1, 0, { until: 90_000, unread: true })).outcome).toBe('not_exercised')
})
