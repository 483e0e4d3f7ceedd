import { describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../../src/traffic/recorded-exchange.ts'
import { idempotencyKeyOnRetry } from '../../../src/verdict/findings/idempotency-key-on-retry.ts'
import { evidenceOf } from '../evidence.ts'
import { ABANDONED, answered, carriedOut, DROPPED, key, list, portfolio, token, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => idempotencyKeyOnRetry.judge(evidenceOf(exchanges))

describe('a fresh key', () => {
  test('for a dropped deposit fails, with both requests and keys', () => {
    const first = transfer(1, 0, { ...DROPPED, ...carriedOut('a') })
    const second = transfer(2, 500, carriedOut('b'))
    expect(judged(first, second)).toEqual({
      outcome: 'failed',
      explanation:
        "alice's deposit of 1000 minor units had to be repeated: its connection was reset after 5 ms. It came again 495 ms later, under another Idempotency-Key. Both were carried out: 0xa and 0xb.",
      expected: `Idempotency-Key: ${key(1)}`,
      came: `Idempotency-Key: ${key(2)}`,
      request_ids: [first.request_id, second.request_id],
    })
  })

  test.each([
    ['a withdrawal', transfer(1, 0, { operation: 'withdraw', ...DROPPED }), transfer(2, 9, { operation: 'withdraw' })],
    ['a portfolio', portfolio(1, 0, DROPPED), portfolio(2, 9)],
    ['a deposit that the client gave up', transfer(1, 0, { ...ABANDONED, until: 5000 }), transfer(2, 5001)],
    [
      'a body that another serializer wrote',
      transfer(1, 0, DROPPED),
      transfer(2, 9, { request: { body: '{ "amount_minor":"1000","portfolio_id":"jar_1" }' } }),
    ],
    ['another connection', transfer(1, 0, DROPPED), transfer(2, 9, { connection: 2 })],
  ])('for %s fails', (_what, first, second) => {
    expect(judged(first, second).outcome).toBe('failed')
  })

  test('for each of several attempts is counted', () => {
    const judgement = judged(transfer(1, 0, DROPPED), transfer(2, 10, DROPPED), transfer(3, 20))
    expect(judgement).toMatchObject({ outcome: 'failed', explanation: expect.stringContaining('2 times') })
    expect(judgement.request_ids).toHaveLength(2)
  })

  test('is not known to be a retry when the first body was never read, when workers overlap, or after another start', () => {
    const dropped = transfer(1, 0, { ...DROPPED, until: 100 })
    expect(judged(transfer(1, 0, { ...DROPPED, ...UNREAD }), transfer(2, 9)).outcome).toBe('needs_review')
    expect(judged(dropped, transfer(3, 50, { until: 150 }), transfer(2, 200)).outcome).toBe('needs_review')
    expect(judged(dropped, token(150), transfer(2, 200)).outcome).toBe('needs_review')
  })
})

test('where several workers write for one end user, nobody knows whose the second is', () => {
  const workers = [transfer(8, 0, { until: 50, amount: '7' }), transfer(9, 20, { until: 90, amount: '8' })]
  expect(judged(...workers, transfer(1, 1000, DROPPED), transfer(2, 1010)).outcome).toBe('needs_review')
  const token = (fingerprint: string) => ({ idp_token: { fingerprint, header: null, claims: null } })
  const dropped = transfer(1, 0, { ...DROPPED, request: token('a') })
  expect(judged(dropped, transfer(2, 10, { request: token('b') })).outcome).toBe('needs_review')
  expect(judged(dropped, transfer(2, 10, { request: token('a') })).outcome).toBe('failed')
})

describe('the same key', () => {
  test('passes, also when the answer was cut short in the middle', () => {
    const cut = transfer(1, 0, {
      faults: [{ id: 'flt_1', kind: 'malformed_body', phase: 'during_response', explanation: '' }],
    })
    expect(judged(cut, transfer(1, 10)).outcome).toBe('passed')
    expect(judged(transfer(1, 0, DROPPED), transfer(1, 10))).toMatchObject({
      outcome: 'passed',
      explanation: expect.stringContaining('under the same Idempotency-Key'),
    })
  })

  test('passes, whatever other workers did before it came', () => {
    const exchanges = [transfer(1, 0, DROPPED), transfer(2, 6), transfer(3, 12), transfer(1, 20)]
    expect(judged(...exchanges).outcome).toBe('passed')
  })

  test('passes in other letters', () => {
    const upper = { idempotency: { key: key(1).toUpperCase(), use: 'replayed' as const } }
    expect(judged(transfer(1, 0, DROPPED), transfer(1, 10, upper)).outcome).toBe('passed')
  })
})

describe('is not exercised', () => {
  test.each([
    ['by answered transfers', [transfer(1, 0), transfer(2, 10)]],
    ['when nothing followed', [transfer(1, 0, DROPPED)]],
    ['when the outcome was looked up first', [transfer(1, 0, DROPPED), list(10), transfer(2, 20)]],
    ['by another end user', [transfer(1, 0, DROPPED), transfer(2, 10, { external_id: 'bob' })]],
    ['by another amount', [transfer(1, 0, DROPPED), transfer(2, 10, { amount: '2000' })]],
    ['by the other operation', [transfer(1, 0, DROPPED), transfer(2, 10, { operation: 'withdraw' })]],
    ['by what was sent before the drop', [transfer(1, 0, { ...DROPPED, until: 100 }), transfer(2, 50, { until: 60 })]],
    ['by what a reset cut off', [transfer(1, 0, { end: 'cut_off', response: null }), transfer(2, 10)]],
    ['by an error answer', [transfer(1, 0, answered(503)), transfer(2, 10)]],
    ['by a key that was in use before', [transfer(2, 0), transfer(1, 10, DROPPED), transfer(2, 20)]],
    [
      'by a repetition of what has been forgotten',
      [transfer(1, 0, DROPPED), transfer(2, 9, { idempotency: { key: key(2), use: 'replayed' } })],
    ],
  ])('%s', (_what, exchanges) => {
    expect(judged(...exchanges).outcome).toBe('not_exercised')
  })
})

test('a suite of eight workers that deposit the same for their own end users passes', () => {
  const exchanges = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => {
    const external_id = `user-${n}`
    return [
      transfer(n, n, { external_id, ...DROPPED }),
      transfer(n, 100 + n, { external_id }),
      transfer(n + 8, 200, { external_id }),
    ]
  })
  const inOrder = exchanges.sort((a, b) => a.began.wall.localeCompare(b.began.wall))
  expect(judged(...inOrder)).toMatchObject({ outcome: 'passed', explanation: expect.stringContaining('7 others') })
})
