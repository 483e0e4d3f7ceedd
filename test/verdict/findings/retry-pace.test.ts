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

test('only writes of the record are judged, each from its first attempt', () => {
  const storm = every(20, 12)
  const others = storm.map((at) => transfer(1, at, { ...DROPPED, operation: 'create_end_user' }))
  expect(judged(...others).outcome).toBe('not_exercised')
  const [kept, ...rest] = attempts(storm)
  expect(retryPace.judge(evidenceOf(rest, { kept: [kept!] })).outcome).toBe('not_exercised')
  expect(judged(...attempts([0, 1000, 2000, 3000, 4000])).explanation).toContain('was sent 5 times')
})

test('the operation with most attempts shows the pace', () => {
  const longer = every(250, 5).map((at) => transfer(2, at, DROPPED))
  expect(judged(...attempts(every(250, 4)), ...longer)).toEqual({
    outcome: 'passed',
    explanation: "alice's deposit of 1000 minor units was sent 5 times, with 245 ms in between on average.",
    request_ids: [longer[0], longer[1], longer[4]].map((one) => one?.request_id),
  })
})

test('100 ms on average are a pause', () => {
  expect(judged(...attempts(every(105, 4))).outcome).toBe('passed')
  expect(judged(...attempts(every(104, 4)))).toMatchObject({
    outcome: 'not_exercised',
    explanation: 'No operation was sent 4 times with pauses, or more than 10 times without.',
  })
})

test('attempts without any pause are a storm, also of those that were put off', () => {
  expect(judged(...attempts(every(5, 11))).outcome).toBe('failed')
  expect(judged(...attempts(every(20, 11), answered(429))).outcome).toBe('failed')
})

test('within one second means that, wherever it lies', () => {
  const late = (pause: number) => attempts(every(pause, 11).map((at) => at + 60_000))
  expect([judged(...late(99)).outcome, judged(...late(100)).outcome]).toEqual(['failed', 'not_exercised'])
  expect(judged(...late(99)).explanation).toContain('was sent 11 times within 990 ms')
})

test('pauses that double in the second half grow', () => {
  const halves = (second: number) => [0, 10, 20, 30, 40, 50, ...[1, 2, 3, 4, 5].map((n) => 50 + n * (second + 5))]
  expect([judged(...attempts(halves(20))).outcome, judged(...attempts(halves(21))).outcome]).toEqual([
    'failed',
    'not_exercised',
  ])
})
