import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHECKS } from '../../src/domain/check.ts'
import { ERRORS } from '../../src/domain/errors.ts'
import { OPERATIONS } from '../../src/domain/operations.ts'
import { explainExchange, nextStep } from '../../src/traffic/explain-exchange.ts'
import { type CausedTransfer, EXCHANGE_ENDS, type RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { anyText } from '../helpers/any-text.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

const BODY = '{"portfolio_id":"jar_1","amount_minor":"1000"}'
const FAULT = {
  id: 'fault-1',
  kind: 'drop_connection',
  phase: 'after_broadcast',
  explanation: 'The connection is reset.',
}
const TRANSFER: CausedTransfer = {
  type: 'deposit',
  transaction_id: 'txn_1',
  tx_hash: '0xab',
  portfolio_id: 'jar_1',
  amount_minor: '1000',
  shown_by: null,
  steps: [],
}
const KEY = 'b3b8c7e0-0000-4000-8000-000000000001'
const first = { key: KEY, use: 'first' } as const

const deposit = (parts: ExchangeParts = {}) =>
  exchange({ until: 41, idempotency: first, transfer: TRANSFER, ...parts, request: { body: BODY, ...parts.request } })

test('a deposit that went well: who, what, how long, the money, the key', () => {
  expect(explainExchange(deposit({ connection: 3, ordinal: 2 }))).toEqual([
    'acme asked to deposit 1000 minor units into jar_1 for alice: POST /v1/partner/end_users/alice/deposit on connection 3, at 1970-01-01T00:00:00.000Z, number 2 of its kind for alice.',
    'It was answered 200 after 41 ms.',
    'The deposit of 1000 minor units was carried out: transaction txn_1, hash 0xab.',
    `It was the first deposit with the Idempotency-Key ${KEY}.`,
  ])
})

test('a dropped deposit was carried out although nobody was told, and the same key leads to it', () => {
  const dropped = deposit({ end: 'dropped', dropped: 'reset', faults: [FAULT] })
  expect(explainExchange(dropped).slice(1)).toEqual([
    'The fault fault-1 (drop_connection) struck it at after_broadcast: The connection is reset.',
    'The fault reset its connection after 41 ms; the answer would have been 200.',
    'The deposit of 1000 minor units was carried out although nobody was told: transaction txn_1, hash 0xab.',
    `It was the first deposit with the Idempotency-Key ${KEY}.`,
    'Repeat it with the same Idempotency-Key, or look at the list of transactions first: another key could move the money twice.',
  ])
})

test('an answer that was never read leaves the client where no answer would', () => {
  const unread = explainExchange(deposit({ unread: true }))
  expect(unread[1]).toBe(
    'It was answered 200 after 41 ms, and the client reset the connection without having read the answer.',
  )
  expect(unread.at(-1)).toMatch(/^Repeat it with the same Idempotency-Key/)
})

test('a client that left: after how long', () => {
  const left = explainExchange(deposit({ end: 'abandoned', until: 5_000, response: null, transfer: null }))
  expect(left).toContain('The client left after 5.0 s, before it was answered.')
  expect(left).toContain('No transaction has been signed for it so far.')
})

test('a refusal: which check, what was expected and what came, and what to do', () => {
  const refused = exchange({
    operation: 'list_pools',
    external_id: null,
    request: { method: 'GET', path: '/v1/partner/pools' },
    response: { status: 401, code: 'invalid_idp_token' },
    refusal: {
      check: 'idp_token',
      code: 'invalid_idp_token',
      aspect: 'aud',
      expected: 'api://yield-sandbox',
      came: 'api://another',
      detail: 'The audience is another one',
    },
  })
  expect(explainExchange(refused)).toEqual([
    'Somebody who claims to be acme asked for the pools: GET /v1/partner/pools on connection 1, at 1970-01-01T00:00:00.000Z.',
    'The check of the identity-provider token refused it with invalid_idp_token: aud: expected api://yield-sandbox, came api://another.',
    'The audience is another one.',
    'It was answered 401 invalid_idp_token after 5 ms.',
    'Obtain a new token from the token endpoint and repeat the request once.',
  ])
})

describe('the money', () => {
  const cases: [string, ExchangeParts, string][] = [
    [
      'told of a failure',
      { response: { status: 504, code: 'gateway_timeout' } },
      'was signed and goes on, although the client was told 504 gateway_timeout',
    ],
    [
      'nobody told, not over',
      { end: 'dropped', dropped: 'closed', response: null },
      'was signed and goes on, although nobody is told',
    ],
    ['under way', { end: 'open', response: null, ended: null }, 'is under way'],
    [
      'cut off',
      { end: 'cut_off', response: null },
      'was signed, and then the sandbox was reset, or a process of it ended',
    ],
  ]
  const failure = { status: 503, code: 'chain_unavailable' }
  test.each<[string, ExchangeParts, string]>([
    ['an error', { response: failure }, 'was carried out, although the client was told 503 chain_unavailable'],
    ['nothing', { end: 'dropped', dropped: 'closed', response: null }, 'was carried out although nobody was told'],
  ])('settled since, and answered with %s', (_, parts, words) => {
    expect(explainExchange(deposit(parts), { settled: true })).toContain(
      `The deposit of 1000 minor units ${words}: transaction txn_1, hash 0xab.`,
    )
  })
  test.each(cases)('%s', (_, parts, words) => {
    expect(explainExchange(deposit(parts))).toContain(
      `The deposit of 1000 minor units ${words}: transaction txn_1, hash 0xab.`,
    )
  })

  test('reverted: it was mined and nothing moved', () => {
    const reverted = deposit({ response: { status: 422, code: 'transaction_reverted' } })
    expect(explainExchange(reverted)).toContain(
      'Its transaction txn_1, hash 0xab, was mined and failed: no money moved.',
    )
  })

  test('refused: nothing moved', () => {
    const refused = deposit({ transfer: null, response: { status: 422, code: 'insufficient_balance' } })
    expect(explainExchange(refused)).toContain('No money moved.')
  })

  test('nothing is said of it where none could move', () => {
    expect(explainExchange(exchange({ operation: 'list_pools' })).join()).not.toContain('money')
  })
})

describe('the key', () => {
  const original = deposit()
  test('replayed and joined name the request that ran the operation, where it is known', () => {
    const replayed = deposit({ idempotency: { key: KEY, use: 'replayed' } })
    expect(explainExchange(replayed, { original })).toEqual(
      expect.arrayContaining([
        'Its outcome is that of the transaction txn_1, hash 0xab: the money moved once.',
        `It was given the outcome of ${original.request_id} again, which had the same Idempotency-Key ${KEY}.`,
      ]),
    )
    const joined = deposit({ idempotency: { key: KEY, use: 'joined' }, transfer: null })
    expect(explainExchange(joined, { original }).at(-1)).toBe(
      `It joined ${original.request_id}, which was running under the same Idempotency-Key ${KEY}, and shares its outcome.`,
    )
    expect(explainExchange(replayed).join(' ')).toContain('the outcome of an earlier request that is forgotten again')
  })

  test('one that nobody looked at', () => {
    expect(explainExchange(deposit({ idempotency: { key: KEY, use: 'unused' } }))).toContain(
      `Nobody looked at its Idempotency-Key ${KEY}.`,
    )
  })
})

describe('what to do next', () => {
  /** Those of the control interface, which is never recorded. */
  const OF_CONTROL =
    /^(control_|namespace_|too_many_|tenant_not|fault_not|scenario_|request_not|operation_not|transaction_not)/

  test.each(Object.entries(ERRORS).filter(([code]) => !OF_CONTROL.test(code)))(
    '%s has advice of its own',
    (code, { status }) => {
      const step = nextStep(exchange({ response: { status, code } }))
      expect(step).toMatch(/^[A-Z].*\.$/)
      expect(step).not.toBe('Do not repeat it unchanged.')
    },
  )

  test('a user token that was not sent is sent, one that was refused is replaced', () => {
    const response = { status: 401, code: 'invalid_user_token' }
    const user_token = { fingerprint: 'a', header: null, claims: null }
    expect(nextStep(exchange({ response }))).toMatch(/^Send the header X-User-Token with a user token/)
    expect(nextStep(exchange({ response, request: { user_token } }))).toMatch(/^Mint a new user token/)
  })

  test.each(['toString', 'constructor', '__proto__'])('a code that nobody knows is not repeated: %s', (code) => {
    expect(nextStep(exchange({ response: { status: 400, code } }))).toBe('Do not repeat it unchanged.')
  })

  test('nothing after a good answer', () => {
    expect(nextStep(exchange())).toBeUndefined()
  })

  test('a read without an answer is sent again, whatever creates is looked at first', () => {
    const list = exchange({ operation: 'list_pools', end: 'dropped', request: { method: 'GET' } })
    expect(nextStep(list)).toBe('Send it again.')
    const create = exchange({ operation: 'create_end_user', end: 'dropped' })
    expect(nextStep(create)).toMatch(/Look at what became of it/)
  })
})

test('whatever was recorded has an explanation of short sentences', () => {
  const text = fc.oneof(anyText(), fc.constantFrom('<script>', '\u001b[2J', 'x'.repeat(5_000)))
  const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
  const arbitrary: fc.Arbitrary<RecordedExchange> = fc
    .record({
      operation: orNull(fc.constantFrom(...OPERATIONS)),
      tenant: orNull(text),
      external_id: orNull(text),
      end: fc.constantFrom(...EXCHANGE_ENDS),
      dropped: orNull(fc.constantFrom('reset', 'closed', 'truncated')),
      took_ms: fc.double({ min: 0, max: 1e9, noNaN: true }),
      refusal: orNull(
        fc.record({
          check: fc.constantFrom(...CHECKS),
          code: text,
          aspect: orNull(text),
          expected: orNull(text),
          came: orNull(text),
          detail: text,
        }),
      ),
      idempotency: orNull(fc.record({ key: text, use: fc.constantFrom('first', 'joined', 'replayed', 'unused') })),
      transfer: orNull(fc.constant(TRANSFER)),
      request: fc.record({ method: text, path: text, body: orNull(fc.oneof(text, fc.json())) }),
      response: orNull(fc.record({ status: fc.integer({ min: 200, max: 599 }), code: orNull(text) })),
    })
    .map((parts) => exchange(parts as ExchangeParts))
  fc.assert(
    fc.property(arbitrary, (recorded) => {
      for (const sentence of explainExchange(recorded)) {
        expect(sentence).toMatch(/[.!?…]$/)
        expect(sentence.length).toBeLessThan(1500)
      }
    }),
  )
})
