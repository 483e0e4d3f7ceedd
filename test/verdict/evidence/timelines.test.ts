import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { attemptsOf, overlap, stepsAfter, tellsOutcome, timelinesOf } from '../../../src/verdict/evidence/timelines.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, DROPPED, key, list, portfolio, transfer } from '../requests.ts'

const timelines = (...exchanges: RecordedExchange[]) => timelinesOf(evidenceOf(exchanges))
const crowded = (...exchanges: RecordedExchange[]) => timelines(...exchanges)[0]?.crowded

test('there is one for each end user of each tenant, in the order in which the requests came', () => {
  const exchanges = [
    transfer(1, 0),
    transfer(2, 10, { external_id: 'bob' }),
    transfer(3, 20, { tenant: 'globex' }),
    list(30),
    transfer(4, 40, { tenant: null }),
    transfer(5, 50, { external_id: null }),
  ]
  expect(timelines(...exchanges).map(({ steps }) => steps.map(({ began }) => began))).toEqual([[0, 30], [10], [20]])
})

test('attempts are those of one operation under one key, in either case', () => {
  const upper = { idempotency: { key: key(1).toUpperCase(), use: 'first' as const } }
  const [timeline] = timelines(
    transfer(1, 0),
    transfer(1, 10, upper),
    transfer(1, 20, { operation: 'withdraw' }),
    list(30),
  )
  expect(attemptsOf(timeline!, timeline!.steps[0]!).map(({ place }) => place)).toEqual([0, 1])
  expect(attemptsOf(timeline!, timeline!.steps[3]!)).toEqual([])
})

test('requests without a key are no attempts under the key "null"', () => {
  const named = { idempotency: { key: 'null', use: 'first' as const } }
  const [timeline] = timelines(transfer(1, 0, { idempotency: null }), transfer(2, 10, named))
  expect(timeline!.steps.map((step) => attemptsOf(timeline!, step).map(({ place }) => place))).toEqual([[], [1]])
})

test('after a step come those that began when it had ended, itself left out', () => {
  const exchanges = [list(0, [], { until: 0 }), transfer(1, 0, { until: 20 }), list(10), list(20), list(30)]
  const [timeline] = timelines(...exchanges)
  const placesAfter = (place: number) => [...stepsAfter(timeline!, timeline!.steps[place]!)].map((step) => step.place)
  expect([placesAfter(0), placesAfter(1), placesAfter(4)]).toEqual([[1, 2, 3, 4], [3, 4], []])
})

test('what is older than the record comes first, and is marked', () => {
  const [timeline] = timelinesOf(evidenceOf([transfer(1, 50)], { kept: [transfer(1, 0, DROPPED)] }))
  expect(timeline!.steps.map(({ began, kept }) => [began, kept])).toEqual([
    [0, true],
    [50, false],
  ])
  expect(attemptsOf(timeline!, timeline!.steps[1]!)).toHaveLength(2)
})

describe('crowded', () => {
  const during = (n: number, from: number, until: number) => transfer(n, from, { until })

  test('is who sends writes under two keys at the same time', () => {
    expect(crowded(during(1, 0, 100), during(2, 50, 150))).toBe(true)
    expect(crowded(during(1, 0, 500), during(2, 100, 120), during(3, 200, 300))).toBe(true)
    expect(crowded(portfolio(1, 0, { until: 100 }), during(2, 50, 150))).toBe(true)
    expect(crowded(during(1, 0, 500), during(1, 100, 120), during(2, 200, 300))).toBe(true)
    expect(crowded(during(1, 0, 10), during(1, 20, 500), during(2, 200, 300))).toBe(true)
  })

  test('is nobody by two attempts under one key, by lists, or by requests without a key', () => {
    expect(crowded(during(1, 0, 100), during(1, 50, 150))).toBe(false)
    expect(crowded(during(1, 0, 100), list(50, [], { until: 150 }))).toBe(false)
    expect(crowded(during(1, 0, 100), transfer(2, 50, { until: 150, idempotency: null }))).toBe(false)
    expect(crowded(during(1, 0, 100), during(2, 100, 150))).toBe(false)
  })

  test('is nobody by an overlap of ten milliseconds: the times are those of the server', () => {
    expect(crowded(during(1, 0, 100), during(2, 90, 150))).toBe(false)
    expect(crowded(during(1, 0, 100), during(2, 89, 150))).toBe(true)
  })
})

test('two requests overlap in either order', () => {
  const [{ steps }] = timelines(transfer(1, 0, { until: 100 }), transfer(2, 50, { until: 150 }), transfer(3, 150)) as [
    ReturnType<typeof timelines>[number],
  ]
  const [one, two, three] = steps
  expect([overlap(one!, two!), overlap(two!, one!), overlap(two!, three!), overlap(three!, two!)]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('an overlap of ten milliseconds is none, in either order', () => {
  const [one, two] = timelines(transfer(1, 0, { until: 100 }), transfer(2, 90, { until: 150 }))[0]!.steps
  expect([overlap(one!, two!), overlap(two!, one!)]).toEqual([false, false])
})

test.each([
  ['an answer', transfer(1, 0), true],
  ['a refusal', transfer(1, 0, answered(422)), true],
  [
    'a refusal before the key was looked at',
    transfer(1, 0, { ...answered(403), idempotency: { key: key(1), use: 'unused' } }),
    false,
  ],
  ['a refusal of a request without a key', transfer(1, 0, { ...answered(403), idempotency: null }), false],
  ['a drop', transfer(1, 0, DROPPED), false],
  ['429', transfer(1, 0, answered(429)), false],
  ['an answer that may not have been read', transfer(1, 0, { unread: true }), false],
])('%s says what became of the operation: %s', (_what, exchange, tells) => {
  expect(tellsOutcome(timelines(exchange)[0]!.steps[0]!)).toBe(tells)
})
