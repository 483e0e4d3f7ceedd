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
