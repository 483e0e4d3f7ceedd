import { describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Operation } from '../../src/domain/operations.ts'
import { ExchangeLog, type LogBounds } from '../../src/traffic/exchange-log.ts'
import type { LiveExchange } from '../../src/traffic/live-exchange.ts'
import { Redactor } from '../../src/traffic/redact.ts'

const ID = 'txn_1'
const HASH = '0xab12'
const KEY = '0c8c7a4e-1d5a-4a43-9a4b-1b1f7d6c0001'
const BODY = JSON.stringify({ portfolio_id: 'jar_1', amount_minor: '1000' })

interface Sent {
  operation?: Operation | null
  user?: string
  key?: string
  body?: string
  /** 0 for none. */
  status?: number
  answer?: string
  transaction?: string
  end?: 'answered' | 'dropped' | 'abandoned' | 'open'
}

function logOf(bounds: Partial<LogBounds> = {}) {
  const around = { clock: new SandboxClock(), settings: { name: 'Service' }, redactor: new Redactor([]) }
  const log = new ExchangeLog({ ...around, maxExchanges: 5, maxBytes: 2 ** 26, tenantOf: () => 'acme', ...bounds })
  let sent = 0
  const send = (what: Sent = {}): LiveExchange => {
    const {
      operation = 'list_pools',
      user = 'alice',
      key = KEY,
      body,
      status = 200,
      answer = '{}',
      end = 'answered',
    } = what
    const live = log.open({
      request_id: `req_${String(++sent).padStart(26, '0')}`,
      method: 'POST',
      url: `/v1/partner/end_users/${user}/${operation}`,
      headers: ['Authorization', 'Bearer x', 'Idempotency-Key', key, 'X-Other', 'y'.repeat(5_000)],
      connection: 1,
      operation,
    })
    if (body !== undefined) log.takeBody(live, body, body.length)
    if (what.transaction !== undefined) {
      live.transferring = true
      live.keyUse = 'first'
      live.transaction_id = what.transaction
      live.tx_hash = `${what.transaction} hash`
    }
    if (status > 0) log.takeAnswer(live, status, null, answer)
    if (end !== 'open') log.end(live, end)
    return live
  }
  const fill = (count = 5) => {
    for (let i = 0; i < count; i++) send()
  }
  const kept = () => [...log.kept()]
  return { log, send, fill, kept }
}

const dropped = { operation: 'deposit', body: BODY, transaction: ID, status: 200, end: 'dropped' } as const
const listOf = (...ids: string[]): Sent => ({
  operation: 'list_transactions',
  answer: JSON.stringify({
    data: ids.map((id) => ({ id, tx_hash: `${id} hash`, note: 'x'.repeat(500) })),
    has_more: true,
  }),
})

describe('what a verdict on transfers needs outlives the record', () => {
  test('every write, under its number, id and ordinal, with its key, body, answer and transfer', () => {
    const { log, send, fill, kept } = logOf()
    send({ operation: 'create_portfolio', body: '{"name":"Old"}', status: 409, answer: '{"code":"conflict"}' })
    send(dropped)
    send({ ...dropped, operation: 'withdraw', end: 'answered' })
    send({ ...dropped, transaction: 'txn_2' })
    const before = log.all()
    fill()
    expect(kept()).toHaveLength(4)
    for (const [i, exchange] of kept().entries()) {
      const { request, response, ...rest } = before[i]!
      expect(exchange).toMatchObject(rest)
      expect(exchange.request).toMatchObject({ body: request.body, path: request.path, method: 'POST' })
      expect(exchange.response).toMatchObject({ status: response!.status, body: response!.body, code: response!.code })
      expect(exchange.request.headers).toEqual([['idempotency-key', KEY]])
    }
    expect(kept()[3]).toMatchObject({ ordinal: 2, number: 4, idempotency: { key: KEY, use: 'first' } })
    expect(log.forgotten.room).toBe(0)
  })

  test('a transfer has its steps, those that come after it was forgotten too', () => {
    const { log, send, fill, kept } = logOf()
    const held = send({ ...dropped, end: 'open', status: 0 })
    log.takeStep(held, 'signed', 3)
    log.end(held, 'abandoned')
    log.takeStep(held, 'broadcast')
    fill()
    log.takeStep(held, 'mined', 7)
    expect(kept()[0]?.transfer?.steps).toMatchObject([
      { step: 'signed', nonce: 3, after_end: false },
      { step: 'broadcast', after_end: true },
      { step: 'mined', block: 7, after_end: true },
    ])
  })

  test('of other exchanges only that they were', () => {
    const { log, send, fill, kept } = logOf()
    for (const operation of ['list_pools', 'list_portfolios', 'token', 'create_end_user', null] as const)
      send({ operation })
    fill()
    expect(kept()).toEqual([])
    expect(log.forgotten.room).toBe(4)
  })

  test('what becomes of one after it was forgotten', () => {
    const { log, send, fill, kept } = logOf()
    const held = send({ ...dropped, end: 'open', status: 0 })
    const answered = send({ ...dropped, end: 'answered' })
    fill()
    log.takeAnswer(held, 200, null, '{"late":true}')
    log.end(held, 'abandoned')
    answered.unread = true
    expect(kept()).toMatchObject([
      { end: 'abandoned', response: { body: '{"late":true}' } },
      { end: 'answered', unread: true },
    ])
  })

  test('long bodies are cut, and say so', () => {
    const { send, fill, kept } = logOf()
    const long = `{"name":"${'x'.repeat(5_000)}"}`
    send({ operation: 'create_portfolio', body: long, answer: long })
    fill()
    const cut = { body: long.slice(0, 2_048), body_cut: true, body_bytes: long.length }
    expect(kept()).toMatchObject([{ request: cut, response: cut }])
  })
})

describe('lists of transactions', () => {
  test('the first four that show the transaction of a write without a good answer, and of these that transaction only', () => {
    const { send, fill, kept } = logOf()
    send(dropped)
    send(listOf('txn_7'))
    for (let i = 0; i < 6; i++) send(listOf('txn_7', ID))
    send({ ...listOf(ID), user: 'bob' })
    fill()
    const lists = kept().filter(({ operation }) => operation === 'list_transactions')
    expect(lists.map(({ number }) => number)).toEqual([3, 4, 5, 6])
    for (const { response, external_id } of lists) {
      expect(external_id).toBe('alice')
      expect(response).toMatchObject({ status: 200, body_cut: false })
      const { data, has_more } = JSON.parse(response!.body!)
      expect(data.map(({ id }: { id: string }) => id)).toEqual([ID])
      expect(has_more).toBe(true)
    }
  })

  test.each<[string, Sent]>([
    ['dropped', {}],
    ['abandoned', { end: 'abandoned' }],
    ['answered 504', { end: 'answered', status: 504 }],
    ['still open', { end: 'open', status: 0 }],
  ])('show what was %s', (_, how) => {
    const { send, fill, kept } = logOf()
    send({ ...dropped, ...how })
    send(listOf(ID))
    fill()
    expect(kept()).toHaveLength(2)
  })

  test('that show a transaction by its hash', () => {
    const { send, fill, kept } = logOf()
    send(dropped).tx_hash = HASH
    send({ operation: 'list_transactions', answer: JSON.stringify({ data: [{ tx_hash: HASH }] }) })
    fill()
    expect(kept()).toHaveLength(2)
  })

  test('are not kept for a write that was answered, at once or by its key later', () => {
    const { send, fill, kept } = logOf()
    send({ ...dropped, end: 'answered' })
    send({ ...dropped, transaction: 'txn_2', key: 'other' })
    send({ operation: 'deposit', body: BODY, key: 'other' })
    send(listOf(ID, 'txn_2'))
    fill()
    expect(kept().map(({ operation }) => operation)).toEqual(['deposit', 'deposit', 'deposit'])
  })

  test('are kept for a write whose answer was not read', () => {
    const { send, fill, kept } = logOf()
    send({ ...dropped, end: 'answered' }).unread = true
    send(listOf(ID))
    fill()
    expect(kept()).toHaveLength(2)
  })

  test('the record of another exchange never takes the place of one that is kept', () => {
    const { send, fill, kept } = logOf({ maxExchanges: 1_000 })
    send(dropped)
    send({ ...listOf(ID) })
    fill(5_000)
    expect(kept()).toMatchObject([{ operation: 'deposit' }, { operation: 'list_transactions', number: 2 }])
  })
})

describe('what is kept is bounded', () => {
  test('in number: what falls out is forgotten, the oldest first', () => {
    const { log, send, kept } = logOf()
    for (let i = 0; i < 10_105; i++) send(dropped)
    expect(kept()).toHaveLength(10_000)
    expect(kept()[0]?.number).toBe(101)
    expect(log.forgotten.room).toBe(100)
  })

  test('in bytes: an eighth of what the record may take', () => {
    const { log, send, kept } = logOf({ maxBytes: 80_000, maxExchanges: 100_000 })
    for (let i = 0; i < 300; i++) send(dropped)
    expect(kept().length).toBeGreaterThan(10)
    expect(kept().length).toBeLessThan(20)
    expect(log.forgotten.room).toBe(300 - log.size - kept().length)
  })
})

describe('what is forgotten is counted by its reason', () => {
  test('room, deleted and reset add up to all that was recorded', () => {
    const { log, send, fill, kept } = logOf()
    send(dropped)
    fill(7)
    send({ operation: null })
    expect(log.forgotten).toEqual({ room: 3, deleted: 0, reset: 0 })
    log.clear()
    expect(kept()).toEqual([])
    expect(log.forgotten).toEqual({ room: 3, deleted: 5, reset: 0 })
    fill(2)
    log.beginAnew()
    expect(log.forgotten).toEqual({ room: 0, deleted: 0, reset: 10 })
    log.beginAnew()
    expect(log.forgotten).toEqual({ room: 0, deleted: 0, reset: 10 })
  })

  test('what is open outlives a reset', () => {
    const { log, send } = logOf()
    send({ end: 'open', status: 0 })
    log.beginAnew()
    expect(log.forgotten.reset).toBe(0)
  })
})
