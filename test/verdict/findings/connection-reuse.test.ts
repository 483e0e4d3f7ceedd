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

test('a few requests show nothing', () => {
  expect(judged(...requests(4)).outcome).toBe('not_exercised')
})

test('five on one connection pass, also beside others', () => {
  expect(judged(...requests(5)).outcome).toBe('passed')
  expect(judged(...requests(5), ...requests(8, (i) => ({ connection: 10 + i })))).toMatchObject({
    outcome: 'passed',
    explanation: expect.stringContaining('9 connections'),
  })
})

test('Connection: close in most requests fails', () => {
  expect(judged(...requests(3, closing), exchange())).toMatchObject({
    outcome: 'failed',
    came: 'Connection: close',
    request_ids: { length: 2 },
  })
})

test('Connection: close in the last request of each process does not fail', () => {
  expect(judged(...requests(6), ...requests(2, closing)).outcome).toBe('passed')
})

test('a connection for each request may be a shell script', () => {
  expect(judged(...requests(20, (i) => ({ connection: i }))).outcome).toBe('needs_review')
})
