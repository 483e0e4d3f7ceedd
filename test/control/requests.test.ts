import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ExchangePage, ExplainedExchange, Har, SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { sendBytes } from '../http/raw-http.ts'
import { harObjections } from '../traffic/har-validator.ts'

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string

beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
  portfolio = await acme.open('dave')
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  await sandbox.faults.clear()
  await sandbox.requests.clear()
})

async function ask(path: string, method = 'GET') {
  const response = await fetch(`${sandbox.controlUrl}/${path}`, { method })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: text ? JSON.parse(text) : undefined,
  }
}

const list = async (query = '') => (await ask(`requests${query}`)).body as ExchangePage
const show = async (id: string) => (await ask(`requests/${id}`)).body as ExplainedExchange
const newest = async (query = '') => show((await list(query)).data[0]!.request_id)

test('latest is the newest request, explained, in both forms; without a request there is none', async () => {
  expect(await ask('requests/latest')).toMatchObject({
    status: 404,
    body: { code: 'request_not_found', param: 'request_id' },
  })
  await acme.get('pools')
  await acme.get('end_users/dave/portfolios', { user: null })
  const [{ request_id } = { request_id: '' }] = (await list()).data
  expect(await show('latest')).toEqual(await show(request_id))
  expect(await show('latest')).toMatchObject({ operation: 'list_portfolios', explanation: expect.any(Array) })
  expect(((await ask('requests/latest?format=har')).body as Har).log.entries.length).toBe(1)
})

describe('the list', () => {
  test('has the newest first, in an envelope, with a cursor that stays where it is', async () => {
    for (let i = 0; i < 5; i++) await acme.get('pools')
    const first = await list('?limit=2')
    expect(first).toMatchObject({ has_more: true, next_cursor: expect.any(String) })
    expect(first.data.map(({ number }) => number)).toEqual([first.data[0]!.number, first.data[0]!.number - 1])
    await acme.get('pools')
    const second = await list(`?limit=100&starting_after=${first.next_cursor}`)
    expect(second.data.map(({ number }) => number)).toEqual([2, 3, 4].map((n) => first.data[0]!.number - n))
    expect(second).toMatchObject({ has_more: false, next_cursor: null })
  })

  test('finds what a filter asks for', async () => {
    await acme.get('pools')
    await acme.get('end_users/dave/portfolios', { user: null })
    const statuses = async (query: string) => (await list(query)).data.map(({ response }) => response?.status)
    expect(await statuses('?status=4xx')).toEqual([401])
    expect(await statuses('?status=200')).toEqual([200])
    expect(await statuses('?code=invalid_user_token&tenant=acme&external_id=dave')).toEqual([401])
    expect(await statuses('?operation=list_pools&end=answered')).toEqual([200])
    expect(await statuses('?operation=deposit')).toEqual([])
    expect(await statuses(`?idempotency_key=${randomUUID()}`)).toEqual([])
    const { connection } = (await list('?operation=list_pools')).data[0]!
    expect(await statuses(`?operation=list_pools&connection=${connection}`)).toEqual([200])
    expect(await statuses('?connection=999999')).toEqual([])
  })

  test.each([
    ['operation=depositt', 'operation', /did you mean "deposit"/],
    ['status=4x', 'status', /a status or a class of them/],
    ['status=600', 'status', /status/],
    ['end=gone', 'end', /gone/],
    ['limit=0', 'limit', /1/],
    ['limit=101', 'limit', /100/],
    ['limit=1e1', 'limit', /1e1/],
    ['connection=0', 'connection', /ordinal of a connection/],
    ['tenant=', 'tenant', /tenant/],
    ['tenant=a&tenant=b', 'tenant', /tenant/],
    ['format=xml', 'format', /xml/],
    ['opration=deposit', 'opration', /did you mean "operation"/],
    ['external_id=', 'external_id', /external_id/],
  ])('%s is refused: 400, the parameter and what would be right', async (query, param, words) => {
    const { status, body } = await ask(`requests?${query}`)
    expect([status, body.code, body.param]).toEqual([400, 'validation_error', param])
    expect(body.detail).toMatch(words)
  })

  test('a cursor of nobody is refused, and one of a forgotten request says so', async () => {
    expect((await ask('requests?starting_after=nothing')).body).toMatchObject({
      code: 'cursor_invalid',
      param: 'starting_after',
    })
    await acme.get('pools')
    await acme.get('pools')
    const { next_cursor } = await list('?limit=1')
    expect((await ask('requests', 'DELETE')).status).toBe(204)
    const { status, body } = await ask(`requests?starting_after=${next_cursor}`)
    expect([status, body.code, body.param]).toEqual([410, 'cursor_expired', 'starting_after'])
    expect(body.detail).toContain('forgotten')
  })

  test('is of its namespace alone', async () => {
    await using twin = await sandbox.namespaces.create()
    await new Partner(twin).get('pools')
    expect((await list()).data).toEqual([])
    const below = await ask(`namespaces/${twin.namespace}/requests?operation=list_pools`)
    expect(below.body.data).toHaveLength(1)
    const { request_id } = below.body.data[0]
    expect((await ask(`namespaces/${twin.namespace}/requests/${request_id}`)).status).toBe(200)
    expect((await ask(`requests/${request_id}`)).status).toBe(404)
  })
})

describe('one request', () => {
  test('that nobody sent: 404, naming how many are kept', async () => {
    await acme.get('pools')
    const { status, body } = await ask('requests/req_none')
    expect([status, body.code, body.param]).toEqual([404, 'request_not_found', 'request_id'])
    expect(body.detail).toMatch(/There is no request "req_none": the newest one is kept/)
  })

  test('a refusal leads to its explanation by the id in its body', async () => {
    const expired = await sandbox.userToken('dave', { expiresIn: -60 })
    const { body } = await acme.get('end_users/dave/portfolios', { headers: { 'x-user-token': expired } })
    const { explanation, refusal } = await show(body.request_id)
    expect(refusal).toMatchObject({ check: 'user_token', code: 'invalid_user_token' })
    expect(explanation[0]).toMatch(
      /^acme asked for the portfolios of dave: GET \/v1\/partner\/end_users\/dave\/portfolios/,
    )
    expect(explanation[1]).toMatch(/^The check of the user token refused it with invalid_user_token\b/)
    expect(explanation.at(-1)).toMatch(/^Mint a new user token/)
  })

  test('a dropped deposit: what struck it, that it was carried out, and what its retry was given', async () => {
    await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
    const key = randomUUID()
    await expect(acme.deposit('dave', portfolio, '1000', { key })).rejects.toThrow()
    const { body } = await acme.deposit('dave', portfolio, '1000', { key })
    const dropped = (await list('?end=dropped&fault=drop_connection')).data[0]!
    const { explanation } = await show(dropped.request_id)
    expect(explanation.join('\n')).toMatch(/acme asked to deposit 1000 minor units into jar_\w+ for dave/)
    expect(explanation.join('\n')).toMatch(/struck it at after_broadcast: The connection is reset/)
    expect(explanation.join('\n')).toMatch(/^The fault reset its connection after \d/m)
    expect(explanation.join('\n')).toContain(`although nobody`)
    expect(explanation.join('\n')).toContain(`hash ${body.tx_hash}`)
    expect(explanation.at(-1)).toMatch(/^Repeat it with the same Idempotency-Key/)
    const retry = await newest('?status=200&operation=deposit')
    expect(retry.idempotency).toMatchObject({ key, use: expect.stringMatching(/joined|replayed/) })
    expect(retry.explanation.join('\n')).toContain(dropped.request_id)
  })

  test('a deposit answered with an error after its broadcast, and settled since: that it was carried out', async () => {
    const fault = {
      kind: 'error',
      phase: 'after_broadcast',
      match: { operation: 'deposit' },
      with: { code: 'chain_unavailable' },
    } as const
    await sandbox.faults.add(fault)
    const { status } = await acme.deposit('dave', portfolio, '1000')
    expect(status).toBe(503)
    await eventually(async () =>
      expect((await newest('?status=503')).explanation.join('\n')).toMatch(
        /The deposit of 1000 minor units was carried out, although the client was told 503 \w+: transaction txn_/,
      ),
    )
  })

  test('a client that left: after how long', async () => {
    await sandbox.faults.add({ kind: 'hang', match: { operation: 'list_pools' } })
    const leaving = new AbortController()
    const gone = acme.get('pools', { signal: leaving.signal })
    await eventually(async () => expect((await list('?end=open')).data).toHaveLength(1))
    leaving.abort()
    await expect(gone).rejects.toThrow()
    await eventually(async () => expect((await list('?end=abandoned')).data).toHaveLength(1))
    expect((await newest('?end=abandoned')).explanation.join('\n')).toMatch(
      /The client left after [\d.]+ m?s, before it was answered/,
    )
  })
})

describe('an archive', () => {
  test('of the list and of one request is a sound HAR, and as JSON', async () => {
    await acme.get('pools')
    await sandbox.faults.add({ kind: 'drop_connection', match: { operation: 'list_pools' } })
    await expect(acme.get('pools')).rejects.toThrow()
    await acme.get('end_users/dave/transactions?limit=1')
    const { status, type, body } = await ask('requests?format=har')
    expect([status, type]).toEqual([200, expect.stringMatching(/^application\/json/)])
    expect(harObjections(body)).toBe('')
    const { entries } = (body as Har).log
    expect(entries.map(({ response }) => response.status)).toEqual([200, 0, 200])
    expect(entries[1]!.response._error).toContain('dropped by a fault')
    expect(entries[2]!.request.url).toBe(`${sandbox.baseUrl}/v1/partner/end_users/dave/transactions?limit=1`)
    const one = (await ask(`requests/${entries[0]!._sandbox.request_id}?format=har`)).body
    expect(one).toEqual({ log: { ...body.log, entries: [entries[0]] } })
  })

  test('holds more than a page, and a limit is kept', async () => {
    for (let i = 0; i < 30; i++) await acme.get('pools')
    expect((await ask('requests?format=har')).body.log.entries).toHaveLength(30)
    expect((await ask('requests?format=har&limit=3')).body.log.entries).toHaveLength(3)
  })
})

test('hostile text is harmless: as it came, in sound JSON, in bounded sentences', async () => {
  const hostile = '<script>alert(1)</script>\u001b[2J\u202e'
  const answers = [
    await acme.post('end_users', { external_id: hostile }),
    await acme.post('end_users', { external_id: 'x'.repeat(90_000) }),
    await acme.get(`end_users/${encodeURIComponent(hostile)}/portfolios`),
    await acme.deposit('dave', portfolio, hostile),
  ]
  expect(answers.every(({ status }) => status >= 400 && status < 500)).toBe(true)
  const body = Buffer.from('{"external_id":"\xff\xfe\xc0"}', 'latin1')
  const head = `POST /v1/partner/end_users HTTP/1.1\r\nHost: localhost\r\nX-Odd: \xff\xfe\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
  await sendBytes(sandbox.baseUrl, Buffer.concat([Buffer.from(head, 'latin1'), body]))
  const { data } = await list()
  expect(data.length).toBeGreaterThanOrEqual(5)
  for (const { request_id } of data) {
    const { explanation } = await show(request_id)
    expect(explanation.every((sentence) => sentence.length < 1500)).toBe(true)
  }
  expect(harObjections((await ask('requests?format=har')).body)).toBe('')
  expect((await list(`?external_id=${encodeURIComponent(hostile)}`)).data.length).toBeGreaterThan(0)
})

test('problem bodies say no more than before', async () => {
  const { body } = await acme.get('end_users/dave/portfolios', { user: null })
  expect(Object.keys(body).sort()).toEqual(
    ['code', 'detail', 'instance', 'param', 'request_id', 'status', 'title', 'type'].sort(),
  )
})

test('the control interface is not on record, however its path is spelled, and looking there changes no id', async () => {
  const idOf = async () => (await acme.get('pools')).headers.get('x-service-request-id')
  await sandbox.reset()
  const untouched = [await idOf(), await idOf()].map((id) => id?.slice(-16))
  await sandbox.reset()
  const touched = [await idOf()]
  for (const path of ['/%5fsandbox/credentials', '/_s%61ndbox/ready', '/%5Fsandbox/nothing', '/%72pc/31337']) {
    await fetch(new URL(path, sandbox.baseUrl))
  }
  touched.push(await idOf())
  expect(touched.map((id) => id?.slice(-16))).toEqual(untouched)
  expect((await list()).data.map(({ request }) => request.path)).toEqual(['/v1/partner/pools', '/v1/partner/pools'])
})
