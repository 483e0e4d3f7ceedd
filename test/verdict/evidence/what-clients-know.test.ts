import { expect, test } from 'vitest'
import { fateOf, retryAfterOf } from '../../../src/verdict/evidence/answers.ts'
import { idempotencyKeyOf } from '../../../src/verdict/evidence/requests.ts'
import { exchange } from '../exchange.ts'
import { ABANDONED, answered, DROPPED, STRUCK } from '../requests.ts'

const cut = { faults: [{ id: 'flt_1', kind: 'malformed_body', phase: 'during_response', explanation: '' }] }

test.each([
  ['done', answered(201)],
  ['unanswered', DROPPED],
  ['unanswered', ABANDONED],
  ['unanswered', { ...answered(200), ...cut }],
  ['done', { ...answered(200), ...STRUCK }],
  ['refused', answered(300)],
  ['server_error', answered(502)],
  ['not_now', answered(401)],
  ['not_now', answered(429)],
  ['not_now', answered(409, 'idempotency_key_in_progress')],
  ['refused', answered(422, 'transaction_reverted')],
  ['refused', answered(404)],
  ['unknown', { end: 'open' as const, response: null }],
  ['unknown', { response: null }],
  ['unknown', { ...answered(200), end: 'cut_off' as const }],
  ['unknown', { ...answered(200), unread: true }],
])('it is %s', (fate, parts) => {
  expect(fateOf(exchange(parts))).toBe(fate)
})

test.each([
  ['2', 2000],
  ['12', 12_000],
  ['2s', null],
  [' 0 ', 0],
  [new Date(9000).toUTCString(), 4000],
  [new Date(1000).toUTCString(), 0],
  ['soon', null],
  ['', null],
])('Retry-After %j is %j ms', (value, ms) => {
  const parts = answered(503, null, [['Retry-After', value]])
  expect(retryAfterOf(exchange({ ...parts, until: 5000 }))).toBe(ms)
})

test('a moment to come back is not known before the answer is out, and not without an answer', () => {
  const date = answered(503, null, [['Retry-After', new Date(9000).toUTCString()]])
  expect(retryAfterOf(exchange({ ...date, ended: null }))).toBeNull()
  expect(retryAfterOf(exchange({ response: null }))).toBeNull()
})

test('a key is what was looked at, else the header, without quotes', () => {
  const headers: [string, string][] = [['Idempotency-key', '"of-the-header"']]
  expect(idempotencyKeyOf(exchange({ request: { headers } }))).toBe('of-the-header')
  expect(idempotencyKeyOf(exchange({ request: { headers }, idempotency: { key: 'looked-at', use: 'first' } }))).toBe(
    'looked-at',
  )
  expect(idempotencyKeyOf(exchange())).toBeNull()
})
