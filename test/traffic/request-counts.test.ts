import { expect, test } from 'vitest'
import { LATENCY_BOUNDS, RequestCounts, RequestMeter } from '../../src/traffic/request-counts.ts'

test('a request is counted by its operation, the status of its answer, and its length', () => {
  const counts = new RequestCounts()
  for (const status of [200, 201, 302, 404, 422, 503, 0, 101]) counts.take('deposit', status, 5, 7_000)
  counts.take(null, 404, 61_000, 9_000)
  const ofDeposits = (['2xx', '3xx', '4xx', '5xx', 'none'] as const).map((outcome) => counts.count(outcome, 'deposit'))
  expect(ofDeposits).toEqual([2, 1, 2, 1, 2])
  expect([counts.count('4xx', 'unknown'), counts.count('4xx'), counts.count('4xx', 'token')]).toEqual([1, 3, 0])
  expect([counts.total, counts.lastAt]).toEqual([9, 9_000])
  expect(counts.latencies('deposit')).toEqual({ counts: [8, ...LATENCY_BOUNDS.map(() => 0)], sum: 40 })
  expect(counts.latencies('unknown')).toEqual({ counts: [...LATENCY_BOUNDS.map(() => 0), 1], sum: 61_000 })
})

test('operations that take turns are told apart', () => {
  const counts = new RequestCounts()
  for (const operation of [null, 'deposit', 'deposit', null, 'token', null, 'deposit'] as const)
    counts.take(operation, 200, 1, 0)
  expect((['unknown', 'deposit', 'token', 'withdraw'] as const).map((one) => counts.count('2xx', one))).toEqual([
    3, 3, 1, 0,
  ])
})

test('a latency belongs to the first bound that it does not exceed', () => {
  const counts = new RequestCounts()
  for (const ms of [0, 5, 6, 10, 60_000, 60_001]) counts.take('token', 200, ms, 0)
  const { counts: buckets } = counts.latencies('token')
  expect([buckets[0], buckets[1], buckets.at(-2), buckets.at(-1)]).toEqual([2, 2, 1, 1])
})

test('only so many namespaces are told apart, and no sum of the others ever decreases', () => {
  const meter = new RequestMeter(2)
  for (const name of ['a', 'b', 'c', 'd']) meter.of(name).take('deposit', 200, 1, 1)
  expect([[...meter.named.keys()], meter.others?.total, meter.all.total]).toEqual([['a', 'b'], 2, 4])
  meter.forget('c')
  expect([meter.others?.total, meter.all.total]).toEqual([2, 4])
  meter.forget('a')
  expect([[...meter.named.keys()], meter.others?.total, meter.all.total]).toEqual([['b'], 2, 4])
  // It does not move to the place that has become free: the others would lose what it has counted.
  meter.of('d').take('deposit', 200, 1, 1)
  expect([[...meter.named.keys()], meter.others?.total]).toEqual([['b'], 3])
  meter.of('a').take('deposit', 200, 1, 1)
  expect([meter.named.get('a')?.total, meter.all.total]).toEqual([1, 6])
})
