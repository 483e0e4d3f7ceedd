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

test.each([
  ['an answer', transfer(1, 0, { until: 61_000 }), '61.0 s'],
  ['a drop', transfer(1, 0, { ...DROPPED, until: 60_000 }), '60.0 s'],
  ['leaving after a minute', transfer(1, 0, { ...ABANDONED, until: 60_010 }), '60.0 s'],
])('the longest wait is proved by %s', (_what, exchange, wait) => {
  const judgement = judged(exchange, transfer(2, 1, { until: 20_000 }))
  expect(judgement).toMatchObject({ outcome: 'passed', request_ids: [exchange.request_id] })
  expect(judgement.explanation).toContain(wait)
})

test('short waits say how long they were', () => {
  expect(judged(transfer(1, 0, { until: 55_000 }))).toMatchObject({
    outcome: 'not_exercised',
    explanation: expect.stringContaining('55.0 s'),
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
