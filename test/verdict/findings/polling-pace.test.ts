import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { pollingPace } from '../../../src/verdict/findings/polling-pace.ts'
import { evidenceOf } from '../evidence.ts'
import type { ExchangeParts } from '../exchange.ts'
import { carriedOut, DROPPED, list, transfer } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => pollingPace.judge(evidenceOf(exchanges))
const dropped = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })
const pools = (at: number) => list(at, [], { operation: 'list_pools', external_id: null, until: at })
/** So many lists with a pause of so many milliseconds, from 100 ms on. */
const polls = (count: number, pause: number, parts: ExchangeParts | ((n: number) => ExchangeParts) = {}, from = 100) =>
  Array.from({ length: count }, (_, n) =>
    list(from + n * (5 + pause), [], typeof parts === 'function' ? parts(n) : parts),
  )

describe('fails when', () => {
  test('the list is asked for ten times without a pause', () => {
    const rush = polls(12, 2)
    expect(judged(dropped, ...rush)).toMatchObject({
      outcome: 'failed',
      came: '2 ms',
      request_ids: [rush[0], rush[1], rush[11]].map((one) => one?.request_id),
    })
  })

  test('its answers differ in their cursors only', () => {
    const body = (n: number) => ({ response: { body: `{"data":[],"next_cursor":"c${n}"}` } })
    expect(judged(dropped, ...polls(10, 2, body)).outcome).toBe('failed')
    expect(judged(dropped, ...polls(10, 2, () => ({ request: { query: [['limit', '9']] } }))).outcome).toBe('failed')
    expect(judged(dropped, ...polls(10, 2, () => ({ response: { body: null } }))).outcome).toBe('failed')
  })
})

test('how often it was, and how quickly, is said', () => {
  expect(judged(dropped, ...polls(12, 2))).toMatchObject({
    explanation:
      "The list of alice's transactions was asked for 12 times in a row on one connection, with pauses down to 2 ms, and was the same each time.",
    expected: '500 ms or more between two',
  })
})

test.each([
  ['500 ms between two', polls(12, 500), 'passed'],
  ['499 ms between two, a quarter of them without a pause', rowOf((n) => (n % 4 === 1 ? 0 : 499)), 'failed'],
  ['a pause of 500 ms in the middle', [...polls(6, 2), ...polls(6, 2, {}, 640)], 'needs_review'],
  ['a fifth of them without a pause', rowOf((n) => (n % 5 ? 300 : 0)), 'needs_review'],
  ['100 ms between two', polls(12, 100), 'needs_review'],
])('%s', (_what, exchanges, outcome) => {
  expect(judged(dropped, ...exchanges).outcome).toBe(outcome)
})

/** Twelve lists, each so long after the one before. */
function rowOf(pause: (n: number) => number): RecordedExchange[] {
  let at = 100
  return Array.from({ length: 12 }, (_, n) => {
    at += pause(n)
    return list(at, [], { until: at })
  })
}

describe('on a busy machine', () => {
  test('a client without pauses has some long ones, and fails', () => {
    expect(judged(dropped, ...rowOf((n) => (n % 2 ? 300 : 3))).outcome).toBe('failed')
  })

  test('one that pauses a little has no short ones', () => {
    expect(judged(dropped, ...rowOf((n) => (n % 2 ? 300 : 150))).outcome).toBe('needs_review')
  })
})

describe('passes when', () => {
  test.each([
    ['there are pauses', [dropped, ...polls(3, 2000)]],
    ['a script has a connection for each', [dropped, ...polls(3, 600, (n) => ({ connection: n }))]],
    [
      'pages are read quickly once it is there',
      [dropped, ...polls(2, 600), list(2000, ['tx_a']), list(2006), list(2012)],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })
})

test('a few quick ones need review', () => {
  const quick = polls(4, 120)
  expect(judged(dropped, ...quick)).toEqual({
    outcome: 'needs_review',
    explanation:
      'The list of transactions was asked for 4 times with pauses down to 120 ms. That is quick, but too short to be called a habit.',
    request_ids: [quick[0]?.request_id, quick[1]?.request_id],
  })
})

test.each([
  ['one look', [dropped, list(100)]],
  ['lists of eight workers, each on its connection', [dropped, ...polls(40, 1, (n) => ({ connection: n % 8 }))]],
  ['lists that change', polls(20, 1, (n) => ({ response: { body: `{"data":[${n}]}` } }))],
  ['pages', polls(20, 1, (n) => ({ request: { query: [['starting_after', `${n}`]] } }))],
  ['different lists', polls(20, 1, (n) => ({ request: { query: [['limit', `${n + 1}`]] } }))],
  ['nine in a row', polls(9, 1)],
  ['lists of portfolios', polls(20, 1, () => ({ operation: 'list_portfolios' }))],
  ['lists that were cut short', polls(20, 1, () => ({ end: 'dropped' }))],
  ['lists that are refused', polls(20, 1, () => ({ response: { status: 503 } }))],
  ['lists without an answer', polls(20, 1, () => ({ response: null }))],
  ['the same page before another', polls(20, 1, () => ({ request: { query: [['ending_before', 'A']] } }))],
  ['the same page after another', polls(20, 1, () => ({ request: { query: [['starting_after', 'A']] } }))],
  ['lists with other requests in between', polls(20, 10).flatMap((one, n) => [one, pools(106 + n * 15)])],
])('%s exercise nothing', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('the transfer that was asked for most slowly is shown', () => {
  const bobs = [1000, 4000].map((at) => list(at, [], { external_id: 'bob', connection: 2 }))
  const exchanges = [
    dropped,
    transfer(2, 10, { ...DROPPED, external_id: 'bob', connection: 2 }),
    list(1000),
    list(2000),
    ...bobs,
  ]
  expect(judged(...exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall)))).toEqual({
    outcome: 'passed',
    explanation: 'The list of transactions was asked for 2 times with 3.0 s or more in between.',
    request_ids: bobs.map(({ request_id }) => request_id),
  })
  expect(judged(dropped, ...polls(3, 2000)).request_ids).toHaveLength(2)
})

test('lists on several connections at once say why nothing is known', () => {
  const worker = (n: number) => ({ connection: n % 8 })
  expect(judged(dropped, ...polls(40, 1, worker)).explanation).toContain('on several connections at once')
})
