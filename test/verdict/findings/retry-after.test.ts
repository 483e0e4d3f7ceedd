import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { retryAfter } from '../../../src/verdict/findings/retry-after.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, customer, list, transfer } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => retryAfter.judge(evidenceOf(exchanges))
const limited = (value: string, status = 429) => answered(status, 'rate_limited', [['retry-after', value]])
const refused = transfer(1, 0, limited('2'))

describe('fails when', () => {
  test('the same key comes at once', () => {
    const next = transfer(1, 100)
    expect(judged(refused, next)).toMatchObject({
      outcome: 'failed',
      expected: '2.0 s or more',
      came: '95 ms',
      request_ids: [refused.request_id, next.request_id],
    })
  })

  test('it comes before the date', () => {
    const dated = transfer(1, 0, limited(new Date(5000).toUTCString(), 503))
    expect(judged(dated, transfer(1, 2000)).outcome).toBe('failed')
    expect(judged(dated, transfer(1, 5000)).outcome).toBe('passed')
  })

  test('a late retry follows an early one', () => {
    expect(judged(refused, transfer(1, 100, limited('2')), transfer(1, 3000)).outcome).toBe('failed')
  })
})

describe('passes when', () => {
  test.each([
    ['the same key comes in time', [refused, transfer(1, 2005)]],
    ['a timer is a little too early', [refused, transfer(1, 1955)]],
    ['it comes at the moment of the answer, which asked for nothing', [transfer(1, 0, limited('0')), transfer(1, 5)]],
    [
      'another worker asks for the same list before this one does',
      [list(0, [], limited('2')), list(10, [], { connection: 2 }), list(2005)],
    ],
    ['the list comes in time', [list(0, [], limited('1')), list(1005)]],
    ['other requests go on meanwhile', [refused, transfer(2, 10), list(20), transfer(1, 2100)]],
    [
      'the request was on its way already',
      [transfer(1, 0, { ...limited('2'), until: 50 }), transfer(1, 20), transfer(1, 2500)],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })

  test('the sandbox clock was moved instead of waiting', () => {
    const next = transfer(1, 100)
    const moved = { ...next, began: { ...next.began, clock: new Date(9000).toISOString() } }
    expect(judged(refused, moved).outcome).toBe('passed')
  })
})

test('under a key, the first repetition counts, on whichever connection it comes', () => {
  const exchanges = [refused, transfer(1, 100, { connection: 2 }), transfer(1, 2100)]
  expect(judged(...exchanges)).toMatchObject({
    outcome: 'failed',
    explanation:
      "alice's deposit of 1000 minor units was answered 429 with Retry-After 2.0 s and came again 95 ms later, on another connection.",
  })
})

test('it is said how often it was so', () => {
  const other = transfer(2, 0, limited('2'))
  const both = (at: number) => judged(refused, other, transfer(1, at), transfer(2, at)).explanation
  expect(judged(refused, transfer(1, 100)).explanation).toBe(
    "alice's deposit of 1000 minor units was answered 429 with Retry-After 2.0 s and came again 95 ms later.",
  )
  expect(both(100)).toMatch(/ came again 95 ms later\. This happened 2 times\.$/)
  expect(judged(refused, transfer(1, 2100)).explanation).toMatch(/ came again 2\.1 s later\.$/)
  expect(both(2100)).toMatch(/ came again 2\.1 s later\. So did 1 other\.$/)
})

test('what keeps a judgement from being certain is said, and both requests are shown', () => {
  const reasonOf = (first: RecordedExchange, second: RecordedExchange) => {
    const { explanation, request_ids } = judged(first, second)
    expect(request_ids).toEqual([first.request_id, second.request_id])
    return explanation.split(' But ')[1]
  }
  expect(reasonOf(customer(0, limited('2')), customer(10))).toBe(
    'the body of one of the two is not on record, so it may be another request.',
  )
  expect(reasonOf(list(0, [], limited('2')), list(10, [], { connection: 2 }))).toBe(
    'it may be of another worker, which did not get that answer.',
  )
  expect(reasonOf(list(0, [], limited('2')), list(10))).toBe(
    'it may be of another test, which did not get that answer.',
  )
})

test('a repetition in time is shown with what it repeats', () => {
  const [asked, again] = [list(0, [], limited('2')), list(3000)]
  expect(judged(asked, again).request_ids).toEqual([asked.request_id, again.request_id])
})

describe('needs review when', () => {
  test.each([
    ['another worker asks for the same list', [list(0, [], limited('2')), list(10, [], { connection: 2 })]],
    ['perhaps the next test does', [list(0, [], limited('2')), list(10)]],
    ['perhaps a test each does', [list(0, [], limited('2')), list(10, [], limited('2')), list(20)]],
    [
      'five customers are created, and the bodies are not on record',
      [0, 10, 20, 30, 40].map((at) => customer(at, at < 40 ? limited('1', 503) : {})),
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('needs_review')
  })
})

test.each([
  ['an answer that was cut short', [transfer(1, 0, { ...limited('2'), end: 'dropped' }), transfer(1, 10)]],
  ['another refusal', [transfer(1, 0, answered(422, null, [['Retry-After', '2']])), transfer(1, 10)]],
  ['no answer', [transfer(1, 0, { response: null }), transfer(1, 10)]],
  ['no Retry-After', [transfer(1, 0, answered(503)), transfer(1, 10)]],
  ['one that cannot be read', [transfer(1, 0, limited('soon')), transfer(1, 10)]],
  ['no repetition', [refused, transfer(2, 10)]],
  [
    'a customer each',
    [1, 2, 3, 4, 5].map((n) =>
      customer(n * 10, { ...(n < 5 && limited('1', 503)), request: { body: `{"external_id":"user-${n}"}` } }),
    ),
  ],
])('%s exercises nothing', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('a request that comes again without having been asked to wait shows nothing', () => {
  const again = [transfer(2, 10, answered(503)), transfer(2, 20)]
  expect(judged(refused, ...again).outcome).toBe('not_exercised')
})

test('answers that asked to wait are counted when nothing came again', () => {
  expect(judged(refused, transfer(2, 10), transfer(3, 20, limited('1'))).explanation).toBe(
    '2 answers had a Retry-After, and none of the requests was repeated.',
  )
  expect(judged(transfer(1, 0)).explanation).toBe('No answer 429 or 503 had a Retry-After.')
})
