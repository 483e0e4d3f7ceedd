import { describe, expect, test } from 'vitest'
import { permanentErrors } from '../../../src/verdict/findings/permanent-errors.ts'
import { evidenceOf } from '../evidence.ts'
import { ABANDONED, answered, customer, list, token, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: Parameters<typeof evidenceOf>[0]) => permanentErrors.judge(evidenceOf(exchanges))
const REFUSED = answered(422, 'insufficient_balance')
const UNKNOWN = answered(404, 'end_user_not_found')
const refusedTransfers = (...times: number[]) => times.map((at) => transfer(1, at, REFUSED))
const unknownLists = (...times: number[]) => times.map((at) => list(at, [], UNKNOWN))

describe('fails when', () => {
  test('a refused transfer comes again and again under its key', () => {
    const exchanges = refusedTransfers(0, 100, 200, 300)
    expect(judged(...exchanges)).toMatchObject({
      outcome: 'failed',
      came: '3 repetitions',
      request_ids: exchanges.slice(0, 3).map(({ request_id }) => request_id),
    })
  })

  test('it does so on a connection each, as a shell script', () => {
    const exchanges = refusedTransfers(0, 100, 200).map((one, n) => ({ ...one, connection: n + 1 }))
    expect(judged(...exchanges).outcome).toBe('failed')
  })
})

describe('needs review when', () => {
  test.each([
    ['a refused transfer comes once more', refusedTransfers(0, 100)],
    ['a list is asked for many times in a row, perhaps by a test each', unknownLists(0, 10, 20, 30, 40)],
    [
      'one key came again and again, and the bodies are not on record',
      [0, 100, 200, 300].map((at) => transfer(1, at, { ...REFUSED, ...UNREAD })),
    ],
    [
      'customers are created one after another, and the bodies are not on record',
      [0, 10, 20, 30].map((at) => customer(at, answered(403, 'insufficient_role'))),
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('needs_review')
  })

  test('the client is still there', () => {
    expect(permanentErrors.judge(evidenceOf(refusedTransfers(0), { ended: false })).outcome).toBe('needs_review')
  })
})

describe('passes when', () => {
  test.each([
    ['nothing is repeated', [...refusedTransfers(0), transfer(2, 10)]],
    ['two tests ask for an unknown end user one right after the other', unknownLists(0, 10)],
    ['other requests are in between', [0, 1, 2, 3, 4].flatMap((n) => [...unknownLists(n * 20), list(n * 20 + 10)])],
    [
      'workers ask for it on their own connections',
      unknownLists(0, 10, 20, 30, 40).map((one, n) => ({ ...one, connection: n % 2 })),
    ],
    [
      'other customers are created one after another',
      [1, 2, 3, 4].map((n) => customer(n * 10, { ...answered(403), request: { body: `{"external_id":"user-${n}"}` } })),
    ],
    ['tests take a fresh key each', [1, 2, 3, 4, 5].map((n) => transfer(n, n * 10, REFUSED))],
    [
      'a deposit came in between',
      refusedTransfers(0, 20, 40, 60).flatMap((one, n) => [one, transfer(n + 5, n * 20 + 10)]),
    ],
    [
      'one in between had no answer, and may have changed something',
      refusedTransfers(0, 20, 40).flatMap((one, n) => [one, transfer(n + 5, n * 20 + 10, ABANDONED)]),
    ],
    ['they were on their way at once', [1, 2, 3, 4].map(() => transfer(1, 0, REFUSED))],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('passed')
  })
})

test.each([
  ['401', answered(401, 'invalid_idp_token')],
  ['409', answered(409, 'idempotency_key_in_progress')],
  ['429', answered(429, 'rate_limited')],
  ['503', answered(503)],
  ['transaction_reverted', answered(422, 'transaction_reverted')],
  ['cursor_expired', answered(410, 'cursor_expired')],
])('repeating after %s exercises nothing here', (_what, parts) => {
  expect(judged(...[0, 10, 20, 30].map((at) => transfer(1, at, parts)))).toMatchObject({ outcome: 'not_exercised' })
})

test('neither does the token endpoint', () => {
  expect(judged(...[0, 10, 20, 30].map((at) => token(at, answered(400, 'invalid_scope')))).outcome).toBe(
    'not_exercised',
  )
})
