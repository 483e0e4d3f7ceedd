import { expect, test } from 'vitest'
import { retryPace } from '../../../src/verdict/findings/retry-pace.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, DROPPED, list, transfer } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => retryPace.judge(evidenceOf(exchanges))
/** Attempts at one deposit that each take 5 ms. */
const attempts = (times: number[], parts = DROPPED) => times.map((at) => transfer(1, at, parts))
const every = (ms: number, count: number) => Array.from({ length: count }, (_, n) => n * ms)

test('more than ten attempts within a second fail', () => {
  const storm = attempts(every(20, 11))
  expect(judged(...storm)).toMatchObject({
    outcome: 'failed',
    explanation: "alice's deposit of 1000 minor units was sent 11 times within 200 ms, and the pauses did not grow.",
    came: '15 ms on average',
    request_ids: [storm[0], storm[1], storm[10]].map((one) => one?.request_id),
  })
  expect(judged(...attempts(every(20, 11), answered(503))).outcome).toBe('failed')
  expect(judged(...attempts([...every(3000, 3), ...every(20, 11).map((at) => at + 9000)])).outcome).toBe('failed')
})

test.each([
  ['ten attempts', attempts(every(20, 10))],
  ['attempts that take more than a second', attempts(every(100, 11))],
  ['pauses that grow', attempts([0, 10, 20, 30, 40, 55, 90, 150, 250, 450, 850])],
  ['attempts that were under way at the same time', attempts(every(2, 20))],
  ['operations of their own', every(20, 20).map((at, n) => transfer(n, at, DROPPED))],
  ['replays of one that was done', attempts(every(20, 20), {})],
  ['refused tokens, which have a finding of their own', attempts(every(20, 20), answered(401, 'invalid_idp_token'))],
  ['Retry-After, which has one, too', attempts(every(20, 20), answered(503, null, [['retry-after', '1']]))],
  ['lists, which may be of a test each', every(20, 20).map((at) => list(at, [], answered(503)))],
])('%s do not fail', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).not.toBe('failed')
})

test('four attempts with pauses show a pace', () => {
  expect(judged(...attempts([0, 250, 750, 1750]))).toMatchObject({ outcome: 'passed', request_ids: { length: 3 } })
  expect(judged(...attempts([0, 250, 750])).outcome).toBe('not_exercised')
  expect(judged(...attempts([0, 20, 40, 60])).outcome).toBe('not_exercised')
})
