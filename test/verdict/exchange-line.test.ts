import { describe, expect, test } from 'vitest'
import { exchangeLine } from '../../src/verdict/build-report.ts'
import { type ExchangeParts, exchange } from './exchange.ts'

const lineOf = (parts: ExchangeParts, start = 0) => exchangeLine(exchange(parts), start)

test('a line has of an exchange what a sequence needs', () => {
  const faults = [
    { id: 'f1', kind: 'latency', phase: 'on_request', explanation: 'It waits.' },
    { id: 'f2', kind: 'error', phase: 'during_response', explanation: 'It fails.' },
  ]
  const transfer = { tx_hash: '0x1', transaction_id: 'txn_1', shown_by: 'req_9' } as never
  const sent = {
    ...{ at: 1500, until: 1620, connection: 3, faults, transfer },
    request: { body: '{"amount_minor":"1"}' },
  }
  expect(lineOf({ ...sent, request_id: 'req_a', idempotency: { key: 'k1', use: 'first' } }, 1000)).toEqual({
    ...{ request_id: 'req_a', operation: 'deposit', tenant: 'acme', external_id: 'alice' },
    request: 'POST /v1/partner/end_users/alice/deposit',
    request_body: '{"amount_minor":"1"}',
    ...{ answer: '200', arrived: true, idempotency_key: 'k1', connection: 3, at_ms: 500, took_ms: 120 },
    fault: 'latency at on_request: It waits. error at during_response: It fails.',
    ...{ tx_hash: '0x1', shown_by: 'req_9' },
  })
})

test('what an exchange does not have is null', () => {
  const nothing = { external_id: null, request_body: null, idempotency_key: null, fault: null, tx_hash: null }
  expect(lineOf({ external_id: null })).toMatchObject({ ...nothing, shown_by: null })
})

test('no line is before the first', () => {
  expect(lineOf({ at: 900 }, 1000).at_ms).toBe(0)
})

test.each<[string, string, (text: string) => ExchangeParts, number]>([
  ['a name', 'external_id', (external_id) => ({ external_id }), 200],
  ['a key', 'idempotency_key', (key) => ({ idempotency: { key, use: 'first' } }), 200],
  ['a body', 'request_body', (body) => ({ request: { body } }), 2048],
])('%s has room up to its limit', (_, field, parts, most) => {
  const shown = (length: number) => (lineOf(parts('x'.repeat(length))) as unknown as Record<string, string>)[field]
  expect(shown(most)).toBe('x'.repeat(most))
  expect(shown(most + 1)).toHaveLength(most)
  expect(shown(most + 1)).toMatch(/…$/)
})

describe('an answer', () => {
  test.each<[string, ExchangeParts]>([
    ['409 conflict', { response: { status: 409, code: 'conflict' } }],
    ['connection reset', { end: 'dropped', dropped: 'reset' }],
    ['connection closed', { end: 'dropped', dropped: 'closed' }],
    ['answer cut short', { end: 'dropped', dropped: 'truncated' }],
    ['connection dropped', { end: 'dropped', dropped: null }],
    ['client left after 1.2 s', { end: 'abandoned', response: null, until: 1234 }],
    ['cut off by a reset, or the end of a process', { end: 'cut_off', response: null }],
    ['no answer yet', { end: 'open' }],
    ['no answer yet', { response: null }],
  ])('%s', (answer, parts) => {
    expect(lineOf(parts).answer).toBe(answer)
  })

  test('has arrived only when it was sent whole', () => {
    expect(lineOf({ end: 'dropped' }).arrived).toBe(false)
  })

  test('has a code of a limited length', () => {
    expect(lineOf({ response: { status: 400, code: 'x'.repeat(300) } }).answer).toHaveLength('400 '.length + 200)
  })
})
