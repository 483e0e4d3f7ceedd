import { describe, expect, test } from 'vitest'
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
    ['a timer is a little too early', [refused, transfer(1, 1960)]],
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
