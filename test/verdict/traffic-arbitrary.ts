import fc from 'fast-check'
import { OPERATIONS } from '../../src/domain/operations.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from './exchange.ts'
import { key } from './requests.ts'

const TEXTS = [
  '',
  '{',
  '[]',
  'null',
  '{"amount_minor":5}',
  '{"amount_minor":"1000"}',
  '{"data":[{"id":"tx_1"}]}',
  '<script>',
  '\u001b[31m',
  '\ud800',
]
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string())
const json = fc.oneof(text, fc.json({ maxDepth: 2 }))
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const header = fc.tuple(fc.constantFrom('Content-Length', 'Retry-After', 'Idempotency-Key', 'Connection', 'x'), text)
const shownToken = fc.record({
  fingerprint: fc.constantFrom('a', 'b'),
  header: maybe(fc.dictionary(fc.constantFrom('alg', 'kid', 'typ'), fc.jsonValue({ maxDepth: 1 }))),
  claims: maybe(fc.dictionary(fc.constantFrom('sub', 'exp', 'iat', 'iss', 'aud'), fc.jsonValue({ maxDepth: 1 }))),
})

const request = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  path: fc.constantFrom('/v1/partner/pools', '/v1/partner/end_users/alice/deposit', '/'),
  query: fc.array(fc.tuple(fc.constantFrom('starting_after', 'ending_before', 'limit', 'client_secret'), text), {
    maxLength: 2,
  }),
  headers: fc.array(header, { maxLength: 2 }),
  body: maybe(json),
  body_bytes: fc.nat(9),
  body_cut: fc.boolean(),
  idp_token: maybe(shownToken),
  user_token: maybe(shownToken),
  client_id: maybe(text),
})

const response = fc.record({
  status: fc.constantFrom(200, 201, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504),
  headers: fc.array(header, { maxLength: 2 }),
  body: maybe(json),
  body_cut: fc.boolean(),
  code: maybe(
    fc.constantFrom('transaction_reverted', 'insufficient_balance', 'invalid_idp_token', 'cursor_expired', ''),
  ),
  issued: maybe(fc.record({ token: shownToken, expires_in: fc.integer() })),
})

const KINDS = ['malformed_body', 'unknown_fields', 'deprecation', 'token_expired', 'bad_signature']
const id = maybe(fc.constantFrom('tx_1', 'tx_2'))

/** Exchanges that nobody would send, or record. */
export const anyExchange: fc.Arbitrary<RecordedExchange> = fc
  .record({
    operation: maybe(fc.constantFrom(...OPERATIONS)),
    tenant: maybe(fc.constantFrom('acme', 'globex', '')),
    external_id: maybe(fc.constantFrom('alice', 'bob', '<script>', '__proto__')),
    connection: fc.integer({ min: 1, max: 3 }),
    at: fc.nat(100_000),
    took_ms: fc.nat(100_000),
    open: fc.boolean(),
    end: fc.constantFrom('open', 'answered', 'dropped', 'abandoned', 'cut_off'),
    dropped: maybe(fc.constantFrom('reset', 'closed', 'truncated')),
    request,
    response: maybe(response),
    faults: fc.array(fc.constantFrom(...KINDS), { maxLength: 1 }),
    idempotency: maybe(
      fc.record({
        key: fc.oneof(fc.nat(4).map(key), text),
        use: fc.constantFrom('first', 'joined', 'replayed', 'unused'),
      }),
    ),
    transfer: maybe(
      fc.record({
        type: fc.constantFrom('deposit', 'withdraw'),
        transaction_id: id,
        tx_hash: id,
        portfolio_id: text,
        amount_minor: text,
      }),
    ),
  })
  .map(({ at, took_ms, open, faults, ...rest }) => {
    const struck = faults.map((kind) => ({ id: 'flt_1', kind, phase: 'on_request', explanation: '' }))
    const made = exchange({ ...rest, at, until: at + took_ms, faults: struck } as ExchangeParts)
    return open ? { ...made, ended: null } : made
  })
