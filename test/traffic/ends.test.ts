import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../src/faults/fault-rule.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Partner } from '../helpers/partner.ts'
import { goodHeaders, send, sendBytes } from '../http/raw-http.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

let open: OpenSandbox
let acme: Partner
let portfolio: string
beforeAll(async () => {
  open = await openSandbox()
  acme = open.acme
  portfolio = await acme.open('dan')
  await acme.userToken('dan')
})
afterAll(() => open.stop())
beforeEach(() => {
  open.sandbox.namespace.services.faults.clear()
  log().clear()
})

const log = () => open.sandbox.namespace.services.exchanges
const add = (rule: FaultRule) => open.sandbox.namespace.services.faults.add([rule], ['acme'])
const deposit = (key = randomUUID()) => acme.deposit('dan', portfolio, '1000', { key })

/** The only exchange there is, once it is over. */
function only(): Promise<RecordedExchange> {
  return eventually(() => {
    const all = log().all()
    expect(all.map(({ end }) => end)).toEqual([expect.not.stringMatching('open')])
    return all[0]!
  })
}

test('an answered request: what came, what was answered, when, and by whom it was sent', async () => {
  const before = Date.now()
  const { headers } = await acme.get('pools?limit=2')
  const shown = await only()
  expect(shown).toMatchObject({
    request_id: headers.get('x-service-request-id'),
    operation: 'list_pools',
    tenant: 'acme',
    external_id: null,
    ordinal: 1,
    end: 'answered',
    dropped: null,
    request: { method: 'GET', path: '/v1/partner/pools', query: [['limit', '2']], body: null, client_id: null },
    response: { status: 200, code: null, body_cut: false, issued: null },
    refusal: null,
    faults: [],
    idempotency: null,
    transfer: null,
  })
  expect(Date.parse(shown.began.wall)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(shown.ended!.wall)).toBeLessThanOrEqual(Date.now())
  expect(shown.response!.headers.map(([name]) => name).sort()).toEqual(
    ['content-length', 'content-type', 'x-service-api-version', 'x-service-request-id'].sort(),
  )
  for (const [name, value] of shown.response!.headers) expect(headers.get(name), name).toBe(value)
})

test('a deposit: its body, key, transfer and hash', async () => {
  const key = randomUUID()
  const { body } = await deposit(key)
  expect(await only()).toMatchObject({
    operation: 'deposit',
    external_id: 'dan',
    end: 'answered',
    request: { body: JSON.stringify({ portfolio_id: portfolio, amount_minor: '1000' }) },
    response: { status: 200, body: JSON.stringify(body) },
    idempotency: { key, use: 'first' },
    transfer: {
      type: 'deposit',
      transaction_id: body.transaction_id,
      tx_hash: body.tx_hash,
      portfolio_id: portfolio,
      amount_minor: '1000',
    },
  })
})

const HOW = { reset: 'reset', close: 'closed', truncate: 'truncated' } as const
const PHASES = ['on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'] as const
describe.each(Object.keys(HOW) as (keyof typeof HOW)[])('a connection dropped by %s', (how) => {
  test.each(PHASES)('at %s', async (phase) => {
    add({ kind: 'drop_connection', phase, match: { operation: 'deposit' }, with: { how } })
    await expect(deposit()).rejects.toThrow()
    const moved = phase !== 'on_request' || how === 'truncate'
    const shown = await eventually(async () => {
      const found = await only()
      if (moved) expect(found.response).toMatchObject({ status: 200 })
      return found
    })
    expect(shown).toMatchObject({
      end: 'dropped',
      dropped: HOW[how],
      faults: [{ kind: 'drop_connection', phase }],
      refusal: null,
      idempotency: { use: moved ? 'first' : 'unused' },
    })
    if (!moved) expect(shown).toMatchObject({ response: null, transfer: null })
    else {
      const { data } = (await acme.get('end_users/dan/transactions?limit=1')).body
      expect(shown.transfer).toMatchObject({ transaction_id: data[0].id, tx_hash: data[0].tx_hash })
    }
  })
})

test('a client that leaves, after how long; the work goes on and the record with it', async () => {
  add({ kind: 'latency', phase: 'after_broadcast', match: { operation: 'deposit' }, with: { delay: '1h' } })
  const leaves = new AbortController()
  const asked = acme.deposit('dan', portfolio, '1000', { signal: leaves.signal })
  await eventually(() => expect(log().all()[0]?.transfer?.tx_hash).toMatch(/^0x/))
  expect(log().all()[0]).toMatchObject({ end: 'open', ended: null, response: null })
  leaves.abort()
  await expect(asked).rejects.toThrow()
  const left = await only()
  expect(left).toMatchObject({ end: 'abandoned', dropped: null })
  open.sandbox.namespace.services.service.clock.advance(3_600_000)
  await eventually(() => expect(log().all()[0]?.response?.status).toBe(200))
  const transfer = { ...left.transfer, steps: expect.arrayContaining(left.transfer!.steps) }
  expect(log().all()[0]).toMatchObject({ end: 'abandoned', ended: left.ended, transfer })
})

test('a client that leaves before the answer to a held request', async () => {
  add({ kind: 'hang', phase: 'on_request', match: { operation: 'list_pools' } })
  await expect(acme.get('pools', { signal: AbortSignal.timeout(300) })).rejects.toThrow()
  const shown = await only()
  expect(shown).toMatchObject({ end: 'abandoned', faults: [{ kind: 'hang' }], response: null })
  expect(shown.took_ms).toBeGreaterThanOrEqual(250)
})

test('an answer that trickles is open until all of it is out', async () => {
  const with_ = { bytes_per_second: 1 }
  add({ kind: 'latency', phase: 'during_response', match: { operation: 'list_pools' }, with: with_ })
  const asked = acme.get('pools')
  await eventually(() => expect(log().all()[0]?.response?.status).toBe(200))
  expect(log().all()[0]).toMatchObject({ end: 'open', ended: null })
  open.sandbox.namespace.services.faults.clear()
  await asked
  expect(await only()).toMatchObject({ end: 'answered' })
})

test('an error that a fault answers with is the refusal; what the work comes to is kept', async () => {
  add({ kind: 'error', phase: 'after_broadcast', match: { operation: 'deposit' }, with: { status: 503 } })
  expect((await deposit()).status).toBe(503)
  const shown = await eventually(async () => {
    const found = await only()
    expect(found.transfer?.tx_hash).toMatch(/^0x/)
    return found
  })
  expect(shown).toMatchObject({
    end: 'answered',
    response: { status: 503, code: 'service_unavailable' },
    refusal: { check: 'fault', code: 'service_unavailable' },
    faults: [{ kind: 'error' }],
  })
})

test('a repetition is replayed, one at the same time joined; both have the transfer', async () => {
  const key = randomUUID()
  const [one, other] = await Promise.all([deposit(key), deposit(key)])
  const again = await deposit(key)
  const all = log().all()
  expect(all.map(({ idempotency }) => idempotency?.use).sort()).toEqual(['first', 'joined', 'replayed'])
  expect(new Set(all.map(({ transfer }) => transfer?.tx_hash))).toEqual(new Set([one.body.tx_hash]))
  expect(all.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3])
  expect([one, other, again].map(({ body }) => body.transaction_id)).toEqual(
    Array.from({ length: 3 }, () => all[0]!.transfer!.transaction_id),
  )
})

test('requests on one connection have its ordinal; another connection has another', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = await goodHeaders(acme)
  const ask = () =>
    new Promise((resolve, reject) => {
      const sent = request(`${acme.sandbox.baseUrl}/v1/partner/pools`, { agent, headers }, (answer) =>
        answer.resume().once('end', resolve),
      )
      sent.once('error', reject).end()
    })
  log().clear()
  await ask()
  await ask()
  agent.destroy()
  await send(acme.sandbox.baseUrl, { path: '/v1/partner/pools', headers })
  const [first, second, third] = log().all()
  expect(second!.connection).toBe(first!.connection)
  expect(third!.connection).not.toBe(first!.connection)
  expect(
    log()
      .all()
      .map(({ end }) => end),
  ).toEqual(['answered', 'answered', 'answered'])
})

test('of pipelined requests, those whose turn did not come before the client left are abandoned', async () => {
  add({ kind: 'hang', match: { operation: 'list_portfolios' } })
  const headers = Object.entries(await goodHeaders(acme, 'dan')).map(([name, value]) => `${name}: ${value}\r\n`)
  log().clear()
  const get = (path: string) => `GET /v1/partner/${path} HTTP/1.1\r\nhost: x\r\n${headers.join('')}\r\n`
  const { hostname, port } = new URL(acme.sandbox.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.write(get('pools') + get('end_users/dan/portfolios') + get('end_users/dan/transactions'))
  await eventually(() => {
    expect(
      log()
        .all()
        .map(({ end }) => end),
    ).toEqual(['answered', 'open', 'answered'])
  })
  socket.destroy()
  await eventually(() => {
    expect(
      log()
        .all()
        .map(({ end }) => end),
    ).toEqual(['answered', 'abandoned', 'abandoned'])
  })
})

test('a path that nobody serves is recorded, what is beside the service is not', async () => {
  const { baseUrl } = acme.sandbox
  for (const path of ['/partner/pools', '/v1/v1/partner/pools', '/api/v1/partner/pools']) await send(baseUrl, { path })
  for (const path of ['/', '/docs', '/openapi.json', '/favicon.ico', '/.well-known/jwks.json', '/_sandbox/health']) {
    await send(baseUrl, { path })
  }
  await send(baseUrl, { path: '/_sandbox/nothing' })
  await send(baseUrl, { path: '/rpc/1', method: 'POST' })
  expect(
    log()
      .all()
      .map(({ request, operation, refusal }) => [request.path, operation, refusal?.code]),
  ).toEqual([
    ['/partner/pools', null, 'not_found'],
    ['/v1/v1/partner/pools', null, 'not_found'],
    ['/api/v1/partner/pools', null, 'not_found'],
  ])
})

test('what Fastify refuses before it looks for a route', async () => {
  const { headers } = await send(acme.sandbox.baseUrl, { path: '/v1/partner/end_users/%zz/deposit', method: 'POST' })
  expect(await only()).toMatchObject({
    request_id: headers['x-service-request-id'],
    end: 'answered',
    response: { status: 400, code: 'validation_error' },
    refusal: { check: 'head', code: 'validation_error', aspect: 'path' },
  })
})

test('bytes that are no HTTP leave no record', async () => {
  expect((await sendBytes(acme.sandbox.baseUrl, 'nonsense\r\n\r\n')).status).toBe(400)
  expect(log().all()).toEqual([])
})

test('a body that never comes: the client leaves', async () => {
  const { hostname, port } = new URL(acme.sandbox.baseUrl)
  const headers = { ...(await goodHeaders(acme, 'dan')), host: 'x', 'content-length': '100' }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  log().clear()
  const socket = connect(Number(port), hostname)
  socket.write(`POST /v1/partner/end_users/dan/deposit HTTP/1.1\r\n${head.join('')}\r\n{"port`)
  await eventually(() => expect(log().all()).toMatchObject([{ end: 'open', operation: 'deposit' }]))
  socket.destroy()
  expect(await only()).toMatchObject({ end: 'abandoned', request: { body: null }, response: null })
})

test('a token request whose form never comes', async () => {
  const { hostname, port } = new URL(acme.sandbox.baseUrl)
  const socket = connect(Number(port), hostname)
  const head = 'host: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n'
  await new Promise((resolve) => socket.write(`POST /oauth2/token HTTP/1.1\r\n${head}\r\ngrant`, resolve))
  // Until the server has seen it: another request on another connection comes after it.
  await acme.get('pools')
  socket.destroy()
  await eventually(() => {
    const token = log()
      .all()
      .find(({ operation }) => operation === 'token')
    expect(token).toMatchObject({ end: 'abandoned', request: { body: null } })
  })
})

test('a body that is broken on the way is refused under the id of its request', async () => {
  const headers = { ...(await goodHeaders(acme, 'dan')), host: 'x', 'transfer-encoding': 'chunked' }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  log().clear()
  const path = '/v1/partner/end_users/dan/deposit'
  const answer = await sendBytes(acme.sandbox.baseUrl, `POST ${path} HTTP/1.1\r\n${head.join('')}\r\nzz\r\n`)
  expect(answer.status).toBe(400)
  const shown = await only()
  expect(shown).toMatchObject({ end: 'answered', response: { status: 400 }, refusal: { code: 'validation_error' } })
  expect(answer.headers['x-service-request-id']).toBe(shown.request_id)
})

test('a reset empties the log; what was open is cut off, and counted anew', async () => {
  await acme.get('pools')
  add({ kind: 'hang', phase: 'on_request', match: { operation: 'list_pools' } })
  const held = acme.get('pools').catch(() => undefined)
  await eventually(() => expect(log().all().at(-1)).toMatchObject({ end: 'open', faults: [{ kind: 'hang' }] }))
  const { request_id } = log().all().at(-1)!
  await open.sandbox.namespace.reset()
  await held
  await eventually(() =>
    expect(
      log()
        .all()
        .map(({ number, end }) => [number, end]),
    ).toEqual([[1, 'cut_off']]),
  )
  expect(log().get(request_id)).toMatchObject({ dropped: null })
  expect(log().forgotten).toMatchObject({ room: 0, deleted: 0 })
})

test('two hundred connections with one request each leave two hundred records', async () => {
  const headers = await goodHeaders(acme)
  log().clear()
  const path = '/v1/partner/pools'
  for (let i = 0; i < 2; i++) {
    await Promise.all(Array.from({ length: 100 }, () => send(acme.sandbox.baseUrl, { path, headers })))
  }
  const all = log().all()
  expect(all).toHaveLength(200)
  expect(new Set(all.map(({ connection }) => connection)).size).toBe(200)
})

test('with recording off, nothing is recorded and everything is answered', async () => {
  const off = await openSandbox({ recordExchanges: 0 })
  try {
    expect((await off.acme.get('pools')).status).toBe(200)
    expect((await off.acme.open('eve')).length).toBeGreaterThan(0)
    expect(off.sandbox.namespace.services.exchanges.all()).toEqual([])
  } finally {
    await off.stop()
  }
})

test.each([{ recordExchanges: -1 }, { recordExchanges: 1.5 }, { recordBytes: 'much' }, { recordBytes: -1 }])(
  'bounds that are none: %o',
  async (options) => {
    await expect(openSandbox(options)).rejects.toThrow(/record ?(Exchanges|bytes)/i)
  },
)
