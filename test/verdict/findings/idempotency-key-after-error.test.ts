import { describe, expect, test } from 'vitest'
import type { RecordedExchange, ShownToken } from '../../../src/traffic/recorded-exchange.ts'
import { idempotencyKeyAfterError } from '../../../src/verdict/findings/idempotency-key-after-error.ts'
import { evidenceOf } from '../evidence.ts'
import type { ExchangeParts } from '../exchange.ts'
import { answered, carriedOut, DROPPED, ledgerTransfer, list, STRUCK, token, transfer, UNREAD } from '../requests.ts'

const judged = (...exchanges: RecordedExchange[]) => idempotencyKeyAfterError.judge(evidenceOf(exchanges))
const GOOD: ShownToken = { fingerprint: 'abc', header: {}, claims: {} }

describe('a fresh key', () => {
  test.each([500, 502, 503, 504])('after %d fails', (status) => {
    expect(judged(transfer(1, 0, answered(status)), transfer(2, 10)).outcome).toBe('failed')
  })

  test.each([
    ['was not read', { body: null }],
    ['was cut', { body_cut: true }],
  ])('needs review when the body of one of the two %s', (_what, request) => {
    const refused = { ...answered(503), request }
    expect(judged(transfer(1, 0, refused), transfer(2, 10)).outcome).toBe('needs_review')
    expect(judged(transfer(1, 0, answered(503)), transfer(2, 10, { request })).outcome).toBe('needs_review')
  })

  test('after retries under one key had no answer fails when the ledger has both', () => {
    const attempts = [0, 10, 20].map((at) => transfer(1, at, { ...answered(503), ...carriedOut('tx_a') }))
    const anew = transfer(2, 30, carriedOut('tx_b'))
    const transfers = ['tx_a', 'tx_b'].map((id) => ledgerTransfer(id))
    const evidence = evidenceOf([...attempts, anew], { transfers })
    expect(idempotencyKeyAfterError.judge(evidence).outcome).toBe('failed')
  })

  test('after a good token was refused fails', () => {
    const struck = { ...answered(401, 'invalid_idp_token'), ...STRUCK }
    expect(judged(transfer(1, 0, struck), token(10), transfer(2, 20)).outcome).toBe('failed')
    const issued = token(0, { response: { issued: { token: GOOD, expires_in: 60 } } })
    const expired = transfer(1, 10, { ...answered(401, 'invalid_idp_token'), request: { idp_token: GOOD } })
    expect(judged(issued, expired, token(20), transfer(2, 30)).outcome).toBe('failed')
  })

  test('after a strange token was refused may be a new operation', () => {
    expect(judged(transfer(1, 0, answered(401, 'invalid_idp_token')), transfer(2, 20)).outcome).toBe('needs_review')
    const strange = { ...answered(401, 'invalid_user_token'), request: { idp_token: GOOD } }
    const issued = token(0, { response: { issued: { token: GOOD, expires_in: 60 } } })
    expect(judged(issued, transfer(1, 10, strange), transfer(2, 20)).outcome).toBe('needs_review')
  })

  test('after 429 may be a new operation, whenever it comes', () => {
    const limited = answered(429, 'rate_limited', [['retry-after', '1']])
    expect(judged(transfer(1, 0, limited), transfer(2, 1100)).outcome).toBe('needs_review')
    expect(judged(transfer(1, 0, limited), transfer(2, 20)).outcome).toBe('needs_review')
    expect(judged(transfer(1, 0, limited), transfer(2, 1100, { connection: 2 })).outcome).toBe('needs_review')
  })

  test('may be of another worker', () => {
    const other = transfer(3, 2, { until: 50 })
    expect(judged(transfer(1, 0, { ...answered(503), until: 20 }), other, transfer(2, 30)).outcome).toBe('needs_review')
    const bare = { ...other, idempotency: null }
    expect(judged(transfer(1, 0, { ...answered(503), until: 20 }), bare, transfer(2, 60)).outcome).toBe('needs_review')
    const look = list(2, [], { operation: 'list_portfolios', until: 50 })
    expect(judged(transfer(1, 0, { ...answered(503), until: 20 }), look, transfer(2, 60)).outcome).toBe('failed')
  })
})

test.each([401, 429, 503])('the same key after %d passes', (status) => {
  expect(judged(transfer(1, 0, answered(status)), token(5), transfer(1, 10)).outcome).toBe('passed')
})

test('orders of other amounts after a 429 that is reported to the customer are other operations', () => {
  const limited = answered(429, 'rate_limited', [['retry-after', '2']])
  const orders = (parts: ExchangeParts) => [
    transfer(1, 0, { ...limited, ...parts, amount: '1000000' }),
    transfer(2, 2100, { ...limited, ...parts, amount: '2000000' }),
    transfer(3, 4200, { amount: '3000000' }),
  ]
  expect(judged(...orders({})).outcome).toBe('not_exercised')
  expect(judged(...orders(UNREAD)).outcome).toBe('needs_review')
})

test('a client that gives up after retries under one key may begin anew', () => {
  const limited = answered(429, 'rate_limited')
  expect(judged(transfer(1, 0, limited), transfer(1, 10, limited), transfer(2, 20)).outcome).toBe('passed')
})

test.each([
  ['by a final refusal', [transfer(1, 0, answered(422, 'insufficient_balance')), transfer(2, 10)]],
  ['by a drop', [transfer(1, 0, DROPPED), transfer(2, 10)]],
  ['by another transfer', [transfer(1, 0, answered(503)), transfer(2, 10, { amount: '20000' })]],
  [
    'by another body of unknown content',
    [
      transfer(1, 0, { ...answered(503), ...UNREAD, request: { body: null, headers: [['content-length', '9']] } }),
      transfer(2, 10),
    ],
  ],
  ['when the outcome was looked up', [transfer(1, 0, answered(504)), list(10), transfer(2, 20)]],
  ['when nothing followed', [transfer(1, 0, answered(503))]],
])('is not exercised %s', (_what, exchanges) => {
  expect(judged(...exchanges).outcome).toBe('not_exercised')
})
