import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { pollingPace } from '../../../src/verdict/findings/polling-pace.ts'
import { evidenceOf } from '../evidence.ts'
import type { ExchangeParts } from '../exchange.ts'
import { carriedOut, DROPPED, list, transfer } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => pollingPace.judge(evidenceOf(exchanges))
const dropped = transfer(1, 0, { ...DROPPED, ...carriedOut('tx_a') })
/** So many lists with a pause of so many milliseconds. */
const polls = (count: number, pause: number, parts: (n: number) => ExchangeParts = () => ({})) =>
  Array.from({ length: count }, (_, n) => list(100 + n * (5 + pause), [], parts(n)))

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
  })
})

describe('on a busy machine', () => {
  const paused = (pause: (n: number) => number) => {
    let at = 100
    return Array.from({ length: 12 }, (_, n) => {
      at += pause(n)
      return list(at, [], { until: at })
    })
  }

  test('a client without pauses has some long ones, and fails', () => {
    expect(judged(dropped, ...paused((n) => (n % 2 ? 300 : 3))).outcome).toBe('failed')
  })

  test('one that pauses a little has no short ones', () => {
    expect(judged(dropped, ...paused((n) => (n % 2 ? 300 : 150))).outcome).toBe('needs_review')
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
  expect(judged(dropped, ...polls(4, 120)).outcome).toBe('needs_review')
})

test.each([
  ['one look', [dropped, list(100)]],
  ['lists of eight workers, each on its connection', [dropped, ...polls(40, 1, (n) => ({ connection: n % 8 }))]],
  ['lists that change', polls(20, 1, (n) => ({ response: { body: `{"data":[${n}]}` } }))],
  ['pages', polls(20, 1, (n) => ({ request: { query: [['starting_after', `${n}`]] } }))],
  ['different lists', polls(20, 1, (n) => ({ request: { query: [['limit', `${n + 1}`]] } }))],
  ['nine in a row', polls(9, 1)],
])('%s exercise nothing', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})
