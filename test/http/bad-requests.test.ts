import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectNoFailure, expectRefusal, goodHeaders, type RawAnswer, send, sendBytes } from './raw-http.ts'

let sandbox: SandboxHandle
let acme: Partner
let good: Record<string, string>
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  good = await goodHeaders(acme)
})
afterAll(() => sandbox.stop())

const POOLS = '/v1/partner/pools'
const PORTFOLIOS = '/v1/partner/end_users/alice/portfolios'

/** Header lines as they stand on the wire, after a Host and before a Connection: close. */
function wire(requestLine: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const head = [requestLine, 'Host: localhost', ...lines, 'Connection: close'].join('\r\n')
  return sendBytes(sandbox.baseUrl, `${head}\r\n\r\n${body}`)
}

describe('what is hardly HTTP', () => {
  const notHttp = { status: 400, code: 'validation_error', param: 'request' }

  test.each([
    ['a broken request line', 'GET\r\n\r\n'],
    ['a future version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a space in the path', 'GET /v1/partner pools HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['TLS', Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10])],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nAuthorization\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-User-Token: a\0b\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    ['a length in words', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n{}'],
  ])('%s is answered 400', async (_what, bytes) => {
    expectRefusal(await sendBytes(sandbox.baseUrl, bytes), notHttp)
  })

  test('CONNECT is answered 501, whatever it asks for', async () => {
    const refusal = { status: 501, code: 'not_implemented', param: 'method' }
    for (const target of ['127.0.0.1:80', POOLS, '/_sandbox/clock']) {
      expectRefusal(await sendBytes(sandbox.baseUrl, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), refusal)
    }
  })

  test('a method that nobody knows is answered 501', async () => {
    const refusal = { status: 501, code: 'not_implemented', param: 'method' }
    for (const target of [POOLS, '/_sandbox/clock', '/none']) {
      expectRefusal(await sendBytes(sandbox.baseUrl, `BREW ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), refusal)
    }
  })

  test('broken chunks are answered 400', async () => {
    const lines = Object.entries(good).map(([name, value]) => `${name}: ${value}`)
    const answer = await wire('POST /v1/partner/end_users HTTP/1.1', [...lines, 'Transfer-Encoding: chunked'], 'zz\r\n')
    expectNoFailure(answer)
    expect(answer.status).toBe(400)
  })

  test('a request of HTTP/1.0 needs no Host, but for control', async () => {
    const answer = await sendBytes(sandbox.baseUrl, `GET ${POOLS} HTTP/1.0\r\n\r\n`)
    expectRefusal(answer, { status: 401, code: 'token_missing', param: 'Authorization' })
    const control = await sendBytes(sandbox.baseUrl, 'GET /_sandbox/credentials HTTP/1.0\r\n\r\n')
    expectRefusal(control, { status: 403, code: 'control_forbidden', param: 'Host' })
    const discovery = 'GET /.well-known/openid-configuration HTTP/1.0\r\n\r\n'
    expectNoFailure(await sendBytes(sandbox.baseUrl, discovery))
  })

  test('the absolute form of a path is that path', async () => {
    const answer = await wire(`GET http://localhost${POOLS} HTTP/1.1`, [`Authorization: ${good.authorization}`])
    expect(answer.status).toBe(200)
  })

  test('expectations, upgrades and trailers are not met, but answered', async () => {
    for (const line of ['Expect: 200-ok', 'Upgrade: websocket', 'Upgrade: h2c', 'TE: trailers']) {
      expectNoFailure(await wire(`GET ${POOLS} HTTP/1.1`, [line]))
    }
  })
})

describe('headers', () => {
  test('longer than 16 KiB in all are refused and named', async () => {
    const refusal = { status: 431, code: 'request_header_fields_too_large', param: 'headers' }
    const long = 'x'.repeat(17 * 1024)
    for (const path of [POOLS, PORTFOLIOS, '/oauth2/token', '/_sandbox/health', '/nowhere']) {
      expectRefusal(await wire(`GET ${path} HTTP/1.1`, [`X-Long: ${long}`]), refusal)
      expectRefusal(await wire(`POST ${path} HTTP/1.1`, [`Authorization: Bearer ${long}`]), refusal)
    }
    const many = Array.from({ length: 5_000 }, (_, i) => `X-${i}: y`)
    expectRefusal(await wire(`GET ${POOLS} HTTP/1.1`, many), refusal)
  })

  test('of less than that are read', async () => {
    const authorization = `Authorization: ${good.authorization}`
    expect((await wire(`GET ${POOLS} HTTP/1.1`, [`X-Long: ${'x'.repeat(12_000)}`, authorization])).status).toBe(200)
  })

  test.each([
    [{ authorization: '' }, 401, 'token_missing'],
    [{ authorization: 'Bearer' }, 401, 'token_missing'],
    [{ authorization: 'Bearer ' }, 401, 'token_missing'],
    [{ authorization: 'Basic YWxpY2U6eA==' }, 401, 'token_missing'],
    [{ authorization: 'Bearer x' }, 401, 'invalid_idp_token'],
    [{ authorization: 'Bearer a.b.c' }, 401, 'invalid_idp_token'],
    [{ authorization: `Bearer ${'.'.repeat(8_000)}` }, 401, 'invalid_idp_token'],
    [{ authorization: 'Bearer ä.ö.ü' }, 401, 'invalid_idp_token'],
    [{ 'x-user-token': '' }, 401, 'invalid_user_token'],
    [{ 'x-user-token': 'null' }, 401, 'invalid_user_token'],
    [{ 'x-user-token': 'bnVsbA.bnVsbA.bnVsbA' }, 401, 'invalid_user_token'],
    [{ 'x-user-token': 'e30.e30.' }, 401, 'invalid_user_token'],
    [{ 'x-user-token': ['a', 'b'] }, 401, 'invalid_user_token'],
    [{ 'idempotency-key': '' }, 400, 'validation_error'],
    [{ 'idempotency-key': '""' }, 400, 'validation_error'],
    [{ 'idempotency-key': 'x'.repeat(8_000) }, 400, 'validation_error'],
    [{ 'idempotency-key': '7c9e6679-7425-10de-944b-e07fc1f90ae7' }, 400, 'validation_error'],
    [{ 'idempotency-key': '7c9e6679742540de944be07fc1f90ae7' }, 400, 'validation_error'],
    [{ 'idempotency-key': '{7c9e6679-7425-40de-944b-e07fc1f90ae7}' }, 400, 'validation_error'],
    [
      { 'idempotency-key': ['7c9e6679-7425-40de-944b-e07fc1f90ae7', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] },
      400,
      'validation_error',
    ],
  ])('%j: %i %s', async (change, status, code) => {
    const [name = ''] = Object.keys(change)
    const params: Record<string, string> = {
      authorization: 'Authorization',
      'x-user-token': 'X-User-Token',
      'idempotency-key': 'Idempotency-Key',
    }
    const headers = { ...(await goodHeaders(acme)), ...change } as Record<string, string | string[]>
    const body = JSON.stringify(await acme.portfolioBody('aave-usdc'))
    const latin1 = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [
        key,
        typeof value === 'string' ? Buffer.from(value).toString('latin1') : value,
      ]),
    )
    const answer = await send(sandbox.baseUrl, { method: 'POST', path: PORTFOLIOS, headers: latin1, body })
    expectRefusal(answer, { status, code, param: params[name]! })
  })

  test('without which an operation must not begin', async () => {
    const { 'idempotency-key': _key, ...headers } = await goodHeaders(acme)
    for (const operation of ['portfolios', 'deposit', 'withdraw']) {
      const path = `/v1/partner/end_users/alice/${operation}`
      const answer = await send(sandbox.baseUrl, { method: 'POST', path, headers, body: '{' })
      expectRefusal(answer, { status: 400, code: 'idempotency_key_required', param: 'Idempotency-Key' })
    }
  })
})
