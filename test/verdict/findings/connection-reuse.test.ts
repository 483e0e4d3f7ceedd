import { expect, test } from 'vitest'
import { connectionReuse } from '../../../src/verdict/findings/connection-reuse.ts'
import { evidenceOf } from '../evidence.ts'
import { exchange } from '../exchange.ts'

const requests = (count: number, parts: (i: number) => Parameters<typeof exchange>[0] = () => ({})) =>
  Array.from({ length: count }, (_, i) => exchange(parts(i)))
const closing = (i: number) => ({
  connection: i,
  request: { headers: [['Connection', 'keep-alive, Close']] as [string, string][] },
})
const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => connectionReuse.judge(evidenceOf(exchanges))

test('a few requests show nothing, not even when one asks for the connection to be closed', () => {
  expect(judged(...requests(4)).outcome).toBe('not_exercised')
  expect(judged(...requests(1, closing)).outcome).toBe('not_exercised')
  expect(judged(...requests(2, closing), ...requests(2)).outcome).toBe('not_exercised')
})

test('five on one connection pass, also beside others', () => {
  expect(judged(...requests(5))).toMatchObject({ outcome: 'passed', request_ids: { length: 2 } })
  expect(judged(...requests(5), ...requests(8, (i) => ({ connection: 10 + i })))).toMatchObject({
    outcome: 'passed',
    explanation: '5 requests came on one connection; there were 9 connections.',
  })
})

test('Connection: close in most requests fails', () => {
  expect(judged(...requests(3, closing), exchange())).toMatchObject({
    outcome: 'failed',
    came: 'Connection: close',
    request_ids: { length: 2 },
  })
})

test.each([
  ['close', 'failed'],
  ['close, TE', 'failed'],
  ['te close', 'failed'],
  ['closed', 'not_exercised'],
])('Connection: %s is %s', (value, outcome) => {
  const headers: [string, string][] = [['Connection', value]]
  expect(judged(...requests(3, () => ({ request: { headers } }))).outcome).toBe(outcome)
})

test('Connection: close in the last request of each process does not fail', () => {
  expect(judged(...requests(6), ...requests(2, closing)).outcome).toBe('passed')
})

test('a connection for each request may be a shell script', () => {
  for (const count of [5, 20]) {
    const judgement = judged(...requests(count, (i) => ({ connection: i })))
    expect(judgement).toMatchObject({ outcome: 'needs_review', request_ids: { length: 2 } })
  }
})

test('the connection with most requests is shown', () => {
  const exchanges = [
    ...requests(5),
    ...requests(7, () => ({ connection: 2 })),
    ...requests(6, () => ({ connection: 3 })),
  ]
  expect(judged(...exchanges).explanation).toBe('7 requests came on one connection; there were 3 connections.')
})
