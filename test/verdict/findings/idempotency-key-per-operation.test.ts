import { expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { idempotencyKeyPerOperation } from '../../../src/verdict/findings/idempotency-key-per-operation.ts'
import { evidenceOf } from '../evidence.ts'
import { answered, DROPPED, key, portfolio, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => idempotencyKeyPerOperation.judge(evidenceOf(exchanges))
const MISUSED = answered(422, 'idempotency_key_in_use_with_different_params')
const right = [1, 2, 3, 4].map((n) => transfer(n, n, { amount: `${n}` }))

test.each([
  ['both operations', transfer(9, 0), transfer(9, 10, { operation: 'withdraw' })],
  ['two end users', transfer(9, 0), transfer(9, 10, { external_id: 'bob' })],
  ['a portfolio and a deposit', portfolio(9, 0), transfer(9, 10)],
])('a key shared by %s fails among right ones, whether the first was answered or not', (_what, one, other) => {
  const unanswered = { ...one, end: 'dropped' as const, response: null }
  for (const first of [one, unanswered]) {
    expect(judged(...right, first, other)).toMatchObject({
      outcome: 'failed',
      came: `"${key(9)}"`,
      request_ids: [first.request_id, other.request_id],
    })
  }
})

test('one key for everything fails, though the service refuses the rest', () => {
  const rest = [2, 3, 4].map((n) => transfer(1, n * 10, { amount: `${n}`, ...MISUSED }))
  expect(judged(transfer(1, 0), ...rest).outcome).toBe('failed')
})

test.each([
  ['is refused with another body', MISUSED],
  ['comes with another body when it has expired', {}],
])('a key that %s may be a test', (_what, answer) => {
  expect(judged(...right, transfer(9, 0), transfer(9, 10, { amount: '5', ...answer })).outcome).toBe('needs_review')
})

test.each([
  ['keys of their own', right],
  [
    'a retry, also one that was not read',
    [...right, transfer(9, 0, DROPPED), transfer(9, 10, UNREAD), transfer(9, 20)],
  ],
  ['a key that another tenant has, too', [...right, transfer(1, 9, { tenant: 'globex', amount: '8' })]],
])('operations with %s pass', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('passed')
})

test.each([
  ['one operation', [transfer(1, 0)]],
  ['one operation and its retry', [transfer(1, 0), transfer(1, 10)]],
])('%s exercises nothing', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})

test('two operations under two keys pass, and two requests show it', () => {
  expect(judged(transfer(1, 0), transfer(2, 10)).outcome).toBe('passed')
  expect(judged(...right).request_ids).toEqual(right.slice(0, 2).map(({ request_id }) => request_id))
})

test('what was shared is said, and how often', () => {
  const bodies = [1, 2, 3].map((n) => transfer(9, n * 10, { amount: `${n}`, ...MISUSED }))
  expect(judged(...right, ...bodies)).toMatchObject({
    outcome: 'needs_review',
    explanation: `The key "${key(9)}" came with 3 different requests: alice's deposit of 1 minor units, then alice's deposit of 2 minor units, then alice's deposit of 3 minor units. 1 of 5 keys was shared. It may be a test of how the service refuses this.`,
  })
  expect(judged(...right, ...bodies, transfer(9, 90, { amount: '9', ...MISUSED })).outcome).toBe('failed')
})

test('ten different requests under a key are told apart, and it is said that there are more', () => {
  const many = Array.from({ length: 12 }, (_, n) => transfer(9, n * 10, { amount: `${n}`, ...MISUSED }))
  expect(judged(...many)).toMatchObject({ request_ids: { length: 10 } })
  expect(judged(...many).explanation).toContain('came with 10 or more different requests')
})

test('three keys of which two are shared are a habit', () => {
  const misused = [2, 3].flatMap((n) => [transfer(n, n * 10), transfer(n, n * 10 + 5, { amount: '7', ...MISUSED })])
  expect(judged(transfer(1, 0), ...misused).outcome).toBe('failed')
  expect(judged(transfer(1, 0), ...misused.slice(0, 2)).outcome).toBe('needs_review')
})

test('a repetition among different requests is not counted', () => {
  const bodies = ['1', '2', '1', '2'].map((amount, n) => transfer(9, n * 10, { amount }))
  expect(judged(...right, ...bodies).explanation).toContain('came with 2 different requests')
})

test('requests that are no writes, or have no key, share none', () => {
  const bare = [10, 20].map((at) => transfer(1, at, { idempotency: null, amount: `${at}` }))
  expect(judged(...right, ...bare).outcome).toBe('passed')
  expect(judged(...right, transfer(1, 50, { operation: 'create_end_user' })).outcome).toBe('passed')
})

test('bodies that only their lengths tell apart may be the same', () => {
  const unread = (length: string) => ({
    request: { body: null, headers: [['Content-Length', length]] as [string, string][] },
  })
  expect(judged(...right, transfer(9, 0, unread('7')), transfer(9, 10)).outcome).toBe('passed')
  expect(judged(...right, transfer(9, 0), transfer(9, 10, unread('7'))).outcome).toBe('passed')
})
