import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../src/faults/fault-rule.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Partner } from '../helpers/partner.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'
import { goodHeaders, type RawAnswer, send, sendBytes } from './raw-http.ts'

const PATH = '/v1/partner/end_users/dan/deposit'
const WHILE: FaultRule = {
  kind: 'latency',
  phase: 'on_request',
  with: { delay: '1ms' },
  match: { operation: 'deposit' },
}
const LIMITED: FaultRule = { kind: 'error', with: { code: 'rate_limited' }, match: { operation: 'deposit' } }

let open: OpenSandbox
let acme: Partner
let body: string
beforeAll(async () => {
  open = await openSandbox()
  acme = open.acme
  body = JSON.stringify({ portfolio_id: await acme.open('dan'), amount_minor: '1000' })
})
afterAll(() => open.stop())
beforeEach(() => {
  open.sandbox.namespace.services.faults.clear()
  log().clear()
})

const log = () => open.sandbox.namespace.services.exchanges
const add = (...rules: FaultRule[]) => open.sandbox.namespace.services.faults.add(rules, ['acme'])

/** The requests so far, once all of them are over. */
function over(count = 1): Promise<RecordedExchange[]> {
  return eventually(() => {
    const all = log().all()
    expect(all.map(({ end }) => end)).toEqual(Array.from({ length: count }, () => expect.not.stringMatching('open')))
    return all
  })
}

async function post(text: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const all = { ...(await goodHeaders(acme, 'dan')), ...headers }
  return send(acme.sandbox.baseUrl, { method: 'POST', path: PATH, headers: all, body: text })
}

/** The bytes of a deposit's head. */
async function head(framing: string): Promise<string> {
  const headers = Object.entries({ host: 'x', ...(await goodHeaders(acme, 'dan')) })
  return `POST ${PATH} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}${framing}\r\n\r\n`
}

function dial(bytes: string): Socket {
  const { hostname, port } = new URL(acme.sandbox.baseUrl)
  const socket = connect(Number(port), hostname, () => socket.write(bytes))
  return socket.on('error', () => undefined).resume()
}

describe('the body of a request is on record whatever strikes it before it is read', () => {
  test.each<[string, FaultRule]>([
    ['an error', LIMITED],
    ['a reset', { kind: 'drop_connection', phase: 'on_request', with: { how: 'reset' } }],
    ['a close', { kind: 'drop_connection', phase: 'on_request', with: { how: 'close' } }],
    ['latency', WHILE],
  ])('%s', async (_, rule) => {
    add({ ...rule, match: { operation: 'deposit' } })
    await post(body).catch(() => undefined)
    const [shown] = await over()
    expect(shown).toMatchObject({ faults: [{ kind: rule.kind }] })
    expect(shown?.request).toMatchObject({ body, body_bytes: body.length, body_cut: false })
  })

  test('a hang', async () => {
    add({ kind: 'hang', phase: 'on_request', match: { operation: 'deposit' } })
    const held = post(body).catch(() => undefined)
    await eventually(() => expect(log().all()).toMatchObject([{ end: 'open', request: { body } }]))
    open.sandbox.namespace.services.faults.clear()
    await held
  })

  test('a fault that the request brings along', async () => {
    expect((await post(body, { 'x-sandbox-fault': 'error; status=503; phase=on_request' })).status).toBe(503)
    expect(await over()).toMatchObject([{ request: { body } }])
  })

  test('of three deposits refused with 429, three bodies', async () => {
    add({ ...LIMITED, times: 3 })
    const amounts = ['1000', '2000', '3000']
    const bodies = amounts.map((amount_minor) => JSON.stringify({ ...JSON.parse(body), amount_minor }))
    for (const one of bodies) expect((await post(one)).status).toBe(429)
    expect((await over(3)).map(({ request }) => request.body)).toEqual(bodies)
  })

  test('a token request', async () => {
    add({ kind: 'error', with: { status: 503 }, match: { operation: 'token' }, phase: 'on_request' })
    const client_id = '00000000-0000-4000-8000-000000000000'
    await fetch(acme.sandbox.authUrl, { method: 'POST', body: new URLSearchParams({ client_id }) })
    expect(await over()).toMatchObject([{ request: { body: `client_id=${client_id}`, client_id } }])
  })
})

describe('what goes on afterwards is read as ever', () => {
  beforeEach(() => void add({ ...WHILE, times: 'always' }))

  test('a good one', async () => {
    const answer = await post(body)
    expect(answer).toMatchObject({ status: 200 })
    expect(await over()).toMatchObject([{ end: 'answered', request: { body, body_bytes: body.length } }])
  })

  test('in chunks', async () => {
    const chunks = [body.slice(0, 9), body.slice(9)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    const bytes = `${await head('transfer-encoding: chunked\r\nconnection: close')}${chunks.join('')}0\r\n\r\n`
    expect((await sendBytes(acme.sandbox.baseUrl, bytes)).status).toBe(200)
  })

  test.each([
    ['too long by its length', 413, 'x'.repeat(200_000), {}],
    ['just too long', 413, 'x'.repeat(100 * 1024 + 1), {}],
    ['as long as may be', 200, () => body.padEnd(100 * 1024), {}],
    ['no JSON', 400, '{', {}],
    ['empty', 400, '', {}],
    ['of another type', 415, 'amount=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['coded', 415, '{}', { 'content-encoding': 'gzip' }],
  ] as [string, number, string | (() => string), Record<string, string>][])(
    '%s: %i',
    async (_, status, text, headers) => {
      expect((await post(typeof text === 'string' ? text : text(), headers)).status).toBe(status)
    },
  )

  test('too long in chunks', async () => {
    const long = 'x'.repeat(150_000)
    const bytes = `${await head('transfer-encoding: chunked')}${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`
    expect((await sendBytes(acme.sandbox.baseUrl, bytes)).status).toBe(413)
  })

  test('one whose second half comes later than a fault waits for it', async () => {
    const socket = dial(`${await head(`content-length: ${body.length}`)}${body.slice(0, 9)}`)
    const part = { body: body.slice(0, 9), body_bytes: 9, body_cut: true }
    await eventually(() => expect(log().all()).toMatchObject([{ end: 'open', request: part }]))
    socket.write(body.slice(9))
    const [shown] = await over()
    socket.destroy()
    expect(shown).toMatchObject({ response: { status: 200 }, request: { body, body_cut: false } })
  })

  test('with Expect: 100-continue', async () => {
    const headers = { ...(await goodHeaders(acme, 'dan')), expect: '100-continue', 'content-length': body.length }
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${acme.sandbox.baseUrl}${PATH}`, { method: 'POST', headers, agent: false })
      asked.on('continue', () => asked.end(body)).on('error', reject)
      asked.on('response', (answer) => resolve(answer.resume().statusCode)).flushHeaders()
    })
    expect(status).toBe(200)
  })
})

describe('a body that does not come in time', () => {
  test('holds up no fault, and the record says how much came', async () => {
    add(LIMITED)
    const none = dial(await head('content-length: 100'))
    expect(await over()).toMatchObject([
      { response: { status: 429 }, request: { body: null, body_bytes: 0, body_cut: true } },
    ])
    none.destroy()
  })

  test('holds up no drop', async () => {
    add({ kind: 'drop_connection', phase: 'on_request', match: { operation: 'deposit' } })
    const begin = '{"amount_minor":1'
    dial(`${await head('content-length: 100')}${begin}`)
    expect(await over()).toMatchObject([{ end: 'dropped', request: { body: begin, body_bytes: 17, body_cut: true } }])
  })

  test('of a client that leaves in the middle: abandoned', async () => {
    add({ ...LIMITED, times: 'always' })
    const socket = dial(`${await head('content-length: 100')}{"a":1`)
    await eventually(() => expect(log().all()).toHaveLength(1))
    socket.destroy()
    expect(await over()).toMatchObject([{ end: 'abandoned', response: null }])
  })
})

test('a long body: its beginning is on record, and the connection goes on', async () => {
  add(LIMITED)
  const long = JSON.stringify({ ...JSON.parse(body), note: 'x'.repeat(3_000_000) })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { ...(await goodHeaders(acme, 'dan')), 'content-length': '' }
  const ask = (text: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(text) } }
      const asked = request(`${acme.sandbox.baseUrl}${PATH}`, options, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      asked.on('error', reject).end(text)
    })
  expect([await ask(long), await ask(body)]).toEqual([429, 200])
  agent.destroy()
  const [struck, next] = await over(2)
  expect(struck?.request.body?.startsWith(`${body.slice(0, -1)},"[hidden `)).toBe(true)
  expect(struck?.request.body_cut).toBe(true)
  expect(struck?.request.body_bytes).toBeGreaterThan(100 * 1024)
  expect(struck?.request.body_bytes).toBeLessThan(400 * 1024)
  expect(next?.connection).toBe(struck?.connection)
})

test('pipelined requests, each with its own body', async () => {
  add(LIMITED, WHILE)
  const second = JSON.stringify({ ...JSON.parse(body), amount_minor: '2000' })
  const heads = [
    await head(`content-length: ${body.length}`),
    await head(`content-length: ${second.length}\r\nconnection: close`),
  ]
  const answers = dial(`${heads[0]}${body}${heads[1]}${second}`)
  const shown = await over(2)
  answers.destroy()
  expect(shown.map(({ request, response }) => [request.body, response?.status])).toEqual([
    [body, 429],
    [second, 200],
  ])
})

test('a request that no fault is about to strike is refused before its body has come', async () => {
  add({ ...LIMITED, skip: 1 })
  const socket = dial((await head(`content-length: ${body.length}`)).replace(/authorization: .*\r\n/, ''))
  expect(await over()).toMatchObject([{ response: { status: 401 }, request: { body: null, body_bytes: 0 } }])
  socket.write(body)
  await eventually(() => expect(log().all()).toMatchObject([{ request: { body, body_cut: false } }]))
  socket.destroy()
})
