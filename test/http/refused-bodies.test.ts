import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Partner } from '../helpers/partner.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'
import { goodHeaders, send } from './raw-http.ts'

const PATH = '/v1/partner/end_users/dan/deposit'
/** Longest body that is kept: what is read of it ends with the chunk that passes the limit. */
const LIMIT = 100 * 1024

let open: OpenSandbox
let acme: Partner
let body: string
let good: Record<string, string>
beforeAll(async () => {
  open = await openSandbox()
  acme = open.acme
  body = JSON.stringify({ portfolio_id: await acme.open('dan'), amount_minor: '1000' })
  good = await goodHeaders(acme, 'dan')
})
afterAll(() => open.stop())
beforeEach(() => {
  open.sandbox.namespace.services.faults.clear()
  log().clear()
})

const log = () => open.sandbox.namespace.services.exchanges
const statuses = () =>
  log()
    .all()
    .map(({ response }) => response?.status)

/** A key of its own, so that each request that is let in moves money. */
const headersOf = (changes: Record<string, string> = {}) => ({ ...good, 'idempotency-key': randomUUID(), ...changes })
const NO_TOKEN = { authorization: 'Bearer x' }

/** The bytes of a request's head; refused with 401 unless told otherwise. */
function head(framing: string, changes: Record<string, string> = NO_TOKEN, path = PATH): string {
  const lines = Object.entries({ host: 'x', ...headersOf(changes) }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}${framing}\r\n\r\n`
}

const sized = (text: string, changes?: Record<string, string>) =>
  `${head(`content-length: ${Buffer.byteLength(text)}`, changes)}${text}`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** A connection, and the status lines that came on it. */
function dial(bytes: string) {
  const { hostname, port } = new URL(acme.sandbox.baseUrl)
  const socket = connect(Number(port), hostname, () => socket.write(bytes))
  const came: string[] = []
  socket.on('error', () => undefined).on('data', (data) => came.push(data.toString()))
  const answers = () => [...came.join('').matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  return { socket, answers }
}

/** The requests so far, once their bodies are as expected. */
const recorded = (...requests: Partial<RecordedExchange['request']>[]) =>
  eventually(() =>
    expect(
      log()
        .all()
        .map(({ request }) => request),
    ).toMatchObject(requests),
  )

describe('whatever refuses a request before its body is read, the body is on record with the answer', () => {
  test.each<[string, number, Record<string, string>, string?]>([
    ['an access token', 401, NO_TOKEN],
    ['a user token', 401, { 'x-user-token': 'x' }],
    ['a key', 400, { 'idempotency-key': 'x' }],
    ['a path', 404, {}, '/v1/partner/nothing'],
    ['a method', 405, {}, '/v1/partner/pools'],
    ['a coding', 415, { 'content-encoding': 'gzip' }],
    ['a type', 415, { 'content-type': 'text/plain' }],
  ])('%s: %i', async (_, status, changes, path = PATH) => {
    const answer = await send(acme.sandbox.baseUrl, { method: 'POST', path, headers: headersOf(changes), body })
    expect(answer.status).toBe(status)
    // At once: what came with the head is on record when the answer is out.
    const [shown] = log().all()
    expect(shown).toMatchObject({ end: 'answered', response: { status } })
    expect(shown!.request).toMatchObject({ body_bytes: body.length, body_cut: false })
    expect(shown!.request.body).toContain('amount_minor')
    if (path === PATH && status !== 415) expect(shown!.request.body).toBe(body)
  })

  test('a body that is not UTF-8', async () => {
    const bytes = Buffer.from('{"amount_minor":"\xff"}', 'latin1')
    const answer = await send(acme.sandbox.baseUrl, { method: 'POST', path: PATH, headers: headersOf(), body: bytes })
    expect(answer.status).toBe(400)
    expect(log().all()[0]!.request).toMatchObject({
      body: expect.stringContaining('amount_minor'),
      body_bytes: bytes.length,
    })
  })

  test('with a fault that changes the answer while it is written', async () => {
    const match = { operation: 'deposit' } as const
    open.sandbox.namespace.services.faults.add([{ kind: 'malformed_body', match, phase: 'during_response' }], ['acme'])
    const { status } = await send(acme.sandbox.baseUrl, {
      method: 'POST',
      path: PATH,
      headers: headersOf({ 'x-user-token': 'x' }),
      body,
    })
    expect(status).toBe(502)
    expect(log().all()).toMatchObject([
      { refusal: { check: 'user_token' }, faults: [{ kind: 'malformed_body' }], request: { body } },
    ])
  })

  test('its secrets are gone', async () => {
    const secret = 'acme-demo-secret'
    const text = JSON.stringify({ ...JSON.parse(body), client_secret: secret })
    const { status } = await send(acme.sandbox.baseUrl, {
      method: 'POST',
      path: PATH,
      headers: headersOf(NO_TOKEN),
      body: text,
    })
    expect(status).toBe(401)
    expect(JSON.stringify(log().all())).not.toContain(secret)
  })
})

describe('a body that comes after its head', () => {
  test('holds up no answer, and is on record when it has come', async () => {
    const { socket, answers } = dial(head(`content-length: ${body.length}`))
    await eventually(() => expect(answers()).toEqual([401]))
    expect(log().all()).toMatchObject([{ end: 'answered', request: { body: null, body_bytes: 0 } }])
    socket.write(body)
    await recorded({ body, body_bytes: body.length, body_cut: false })
    socket.destroy()
  })

  test('in chunks', async () => {
    const { socket, answers } = dial(`${head('transfer-encoding: chunked')}${chunk(body.slice(0, 9))}`)
    await eventually(() => expect(answers()).toEqual([401]))
    socket.write(`${chunk(body.slice(9))}0\r\n\r\n`)
    await recorded({ body, body_bytes: body.length, body_cut: false })
    socket.write(sized(body, {}))
    await eventually(() => expect(answers()).toEqual([401, 200]))
    socket.destroy()
  })

  test('only in part: after a second, the part', async () => {
    const { socket, answers } = dial(`${head('content-length: 100')}{"amount_minor":1`)
    await eventually(() => expect(answers()).toEqual([401]))
    await recorded({ body: '{"amount_minor":1', body_bytes: 17, body_cut: true })
    // The rest of it is still the rest of that body, and the connection serves on.
    socket.write(`${'x'.repeat(83)}${sized(body, {})}`)
    await eventually(() => expect(answers()).toEqual([401, 200]))
    await recorded({ body_bytes: 17, body_cut: true }, { body })
    socket.destroy()
  })

  test('of a client that closes in the middle: what came', async () => {
    const { socket, answers } = dial(`${head('content-length: 100')}{"amount_minor":1`)
    await eventually(() => expect(answers()).toEqual([401]))
    socket.destroy()
    await recorded({ body: '{"amount_minor":1', body_bytes: 17, body_cut: true })
    expect(log().all()).toMatchObject([{ response: { status: 401 } }])
  })

  test('of a client that resets the connection: nothing breaks', async () => {
    const { socket, answers } = dial(head('content-length: 100'))
    await eventually(() => expect(answers()).toEqual([401]))
    socket.resetAndDestroy()
    await recorded({ body: null, body_bytes: 0, body_cut: true })
    expect((await acme.get('pools')).status).toBe(200)
  })

  test('after 100 Continue', async () => {
    const { socket, answers } = dial(head(`content-length: ${body.length}\r\nexpect: 100-continue`))
    await eventually(() => expect(answers()).toEqual([100, 401]))
    socket.write(`${body}${sized(body, {})}`)
    await eventually(() => expect(answers()).toEqual([100, 401, 200]))
    await recorded({ body, body_cut: false }, { body, body_cut: false })
    socket.destroy()
  })

  test('when the record was deleted meanwhile, it stays deleted', async () => {
    const { socket, answers } = dial(head(`content-length: ${body.length}`))
    await eventually(() => expect(answers()).toEqual([401]))
    log().clear()
    socket.write(`${body}${sized(body, {})}`)
    await eventually(() => expect(answers()).toEqual([401, 200]))
    expect(statuses()).toEqual([200])
    socket.destroy()
  })
})

describe('a long body', () => {
  const long = () => JSON.stringify({ ...JSON.parse(body), note: 'x'.repeat(3_000_000) })

  test.each([
    ['by its length', (text: string) => sized(text)],
    ['in chunks', (text: string) => `${head('transfer-encoding: chunked')}${chunk(text)}0\r\n\r\n`],
  ])('%s: its beginning is on record, and the connection serves on', async (_, bytes) => {
    const { socket, answers } = dial(`${bytes(long())}${sized(body, {})}`)
    await eventually(() => expect(answers()).toEqual([401, 200]))
    const [refused, next] = log().all()
    expect(refused!.request.body?.startsWith(`${body.slice(0, -1)},"[hidden `)).toBe(true)
    expect(refused!.request.body_cut).toBe(true)
    expect(refused!.request.body_bytes).toBeGreaterThan(LIMIT)
    expect(refused!.request.body_bytes).toBeLessThan(4 * LIMIT)
    expect(next).toMatchObject({ connection: refused!.connection, request: { body } })
    socket.destroy()
  })

  test('that is refused for its length: 413, and the connection is closed as ever', async () => {
    const { socket, answers } = dial(sized('x'.repeat(LIMIT + 1), {}))
    await once(socket, 'close')
    expect(answers()).toEqual([413])
    expect(log().all()).toMatchObject([{ end: 'answered', response: { status: 413 } }])
  })
})

describe('one connection', () => {
  test('pipelined requests: each its own body, answers in order', async () => {
    const bodies = ['1', '2', '3', '4'].map((amount_minor) => JSON.stringify({ ...JSON.parse(body), amount_minor }))
    const [first, second, third, fourth] = bodies as [string, string, string, string]
    const { socket, answers } = dial(sized(first) + sized(second, {}) + sized(third) + sized(fourth, {}))
    await eventually(() => expect(answers()).toEqual([401, 200, 401, 200]))
    await recorded({ body: first }, { body: second }, { body: third }, { body: fourth })
    socket.destroy()
  })

  test('a long body whose answer waits for an earlier one holds back what comes after it until then', async () => {
    const match = { operation: 'list_pools' } as const
    open.sandbox.namespace.services.faults.add([{ kind: 'latency', match, with: { delay: '1h' } }], ['acme'])
    const pools = head('content-length: 0', {}, '/v1/partner/pools').replace('POST', 'GET')
    const { socket, answers } = dial(pools + sized('x'.repeat(3_000_000)) + sized(body, {}))
    await eventually(() => expect(statuses()).toEqual([undefined, 401]))
    expect((await acme.get('end_users/dan/portfolios')).status).toBe(200)
    expect(statuses()).toEqual([undefined, 401, 200])
    open.sandbox.namespace.services.service.clock.advance(3_600_000)
    await eventually(() => expect(answers()).toEqual([200, 401, 200]))
    socket.destroy()
  })

  test('a client that keeps its connection alive uses one for all', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } }
        const asked = request(`${acme.sandbox.baseUrl}${PATH}`, options, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode)),
        )
        asked.on('error', reject).end(body)
      })
    for (const headers of [NO_TOKEN, {}, NO_TOKEN, NO_TOKEN, {}]) await ask(headersOf(headers))
    agent.destroy()
    expect(statuses()).toEqual([401, 200, 401, 401, 200])
    await recorded({ body }, { body }, { body }, { body }, { body })
    expect(
      new Set(
        log()
          .all()
          .map(({ connection }) => connection),
      ).size,
    ).toBe(1)
  })
})
