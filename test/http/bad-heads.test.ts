import { connect as connectHttp2 } from 'node:http2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectIdentified, expectRefusal, goodHeaders, type RawAnswer, send, sendBytes } from './raw-http.ts'

let sandbox: SandboxHandle
let good: Record<string, string>
beforeAll(async () => {
  sandbox = await testNamespace()
  good = await goodHeaders(new Partner(sandbox))
})
afterAll(() => sandbox.stop())

const POOLS = '/v1/partner/pools'
const PATHS = [POOLS, '/oauth2/token', '/_sandbox/health', '/_sandbox/faults', '/rpc/31337', '/docs', '/nowhere']
const invalid = (param: string) => ({ status: 400, code: 'validation_error', param })

/** Lines of a head as they stand on the wire, and a body. */
function wire(lines: readonly string[], body = ''): Promise<RawAnswer> {
  return sendBytes(sandbox.baseUrl, `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
}

/** Refused in the words of the service; by the token endpoint in those of RFC 6749. */
function expectRefused(path: string, answer: RawAnswer, refusal: { status: number; code: string; param: string }) {
  if (path !== '/oauth2/token') return expectRefusal(answer, refusal)
  expectIdentified(answer)
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toMatchObject({
    status: refusal.status,
    error: 'invalid_request',
  })
  return undefined
}

describe('Host (RFC 9112 §3.2)', () => {
  test.each(PATHS)('POST %s is refused without one, with two and with none that could be', async (path) => {
    const hosts = [
      [],
      ['Host: 127.0.0.1', 'Host: evil.example'],
      ['Host: 127.0.0.1', 'HOST: 127.0.0.1'],
      ['Host: 127.0.0.1', ...Array.from({ length: 2100 }, () => 'A:'), 'Host: evil.example'],
      ['Host: a b'],
      ['Host: a/b'],
      ['Host: alice@127.0.0.1'],
      ['Host: 127.0.0.1:x'],
      ['Host: 127.0.0.1:1:2'],
      ['Host: 127.0.0.1, evil.example'],
      ['Host: [::1'],
      ['Host: ä'],
      ['Host: %zz'],
    ]
    for (const lines of hosts) {
      const answer = await wire([`POST ${path} HTTP/1.1`, ...lines])
      expectRefused(path, answer, invalid('Host'))
    }
  })

  test('HTTP/1.0 needs none, but no second one either', async () => {
    const missing = { status: 401, code: 'token_missing', param: 'Authorization' }
    expectRefusal(await wire([`GET ${POOLS} HTTP/1.0`]), missing)
    expectRefusal(await wire([`GET ${POOLS} HTTP/1.0`, 'Host: a', 'Host: b']), invalid('Host'))
  })

  test('is sound with any name, address and port', async () => {
    const names = [
      '',
      'localhost',
      'sandbox.internal',
      'a_b',
      '127.0.0.1',
      '[::1]',
      '[fe80::1%25eth0]',
      'xn--n3h',
      'a%2d',
    ]
    for (const host of names.flatMap((name) => [name, `${name}:4010`, `${name}:`])) {
      expect((await wire(['GET /_sandbox/health HTTP/1.1', `Host: ${host}`])).status).toBe(200)
    }
  })
})

describe('headers that may come once', () => {
  test.each(['Authorization: Bearer x', 'authorization: Basic eDp4', 'Content-Type: application/json'])(
    '%s is refused beside another one',
    async (line) => {
      const [name = ''] = line.split(':')
      const param = name === 'Content-Type' ? name : 'Authorization'
      const first = name === 'Content-Type' ? line : `Authorization: ${good.authorization}`
      for (const path of PATHS) {
        const answer = await wire([`POST ${path} HTTP/1.1`, 'Host: localhost', first, line])
        expectRefused(path, answer, invalid(param))
      }
    },
  )
})

describe('a transfer coding other than chunked (RFC 9112 §6.1)', () => {
  test.each(['gzip, chunked', 'foo, chunked', 'identity, chunked', 'gzip\t,chunked'])('%s: 501', async (coding) => {
    for (const path of PATHS) {
      const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json']
      const answer = await wire([...head, `Transfer-Encoding: ${coding}`], '2\r\n{}\r\n0\r\n\r\n')
      const refusal = { status: 501, code: 'not_implemented', param: 'Transfer-Encoding' }
      expectRefused(path, answer, refusal)
    }
  })

  test('without chunked, once and last, nobody can tell where the body ends: 400', async () => {
    for (const coding of ['gzip', 'chunked, gzip', 'chunked, chunked']) {
      const head = [`POST ${POOLS} HTTP/1.1`, 'Host: localhost', `Transfer-Encoding: ${coding}`]
      expectRefusal(await wire(head, '2\r\n{}\r\n0\r\n\r\n'), invalid('request'))
    }
  })

  test('chunked in any case is read', async () => {
    const head = ['POST /_sandbox/faults HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
    expect((await wire([...head, 'Transfer-Encoding: Chunked'], '2\r\n[]\r\n0\r\n\r\n')).status).toBe(201)
  })
})

describe('lengths', () => {
  const tooLong = { status: 414, code: 'uri_too_long', param: 'path' }

  test('a path and query over 8 KiB: 414', async () => {
    for (const path of PATHS) {
      for (const length of [8 * 1024, 12 * 1024, 17 * 1024, 40 * 1024]) {
        const answer = await wire([`POST ${path}?${'x'.repeat(length)} HTTP/1.1`, 'Host: localhost'])
        if (length > 16 * 1024) expectRefusal(answer, tooLong)
        else expectRefused(path, answer, tooLong)
        expect(answer.text.length).toBeLessThan(2000)
      }
    }
    const most = 8 * 1024 - '/_sandbox/health?'.length
    expect((await wire([`GET /_sandbox/health?${'x'.repeat(most)} HTTP/1.1`, 'Host: localhost'])).status).toBe(200)
  })

  test('headers over 16 KiB: 431', async () => {
    const refusal = { status: 431, code: 'request_header_fields_too_large', param: 'headers' }
    for (const path of PATHS) {
      const long = `X-Long: ${'x'.repeat(17 * 1024)}`
      expectRefusal(await wire([`GET ${path} HTTP/1.1`, 'Host: localhost', long]), refusal)
    }
  })

  test('over 1,000 parameters in a query or fields in a form: 400', async () => {
    const many = (count: number) => Array.from({ length: count }, () => 'a').join('&')
    const answer = await send(sandbox.baseUrl, { path: `${POOLS}?${many(1001)}`, headers: good })
    expectRefusal(answer, invalid('query'))
    expect(JSON.parse(answer.text).detail).toContain('1000')
    expect((await send(sandbox.baseUrl, { path: `${POOLS}?${many(1000)}`, headers: good })).status).toBe(200)

    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const ask = (body: string) => send(sandbox.baseUrl, { method: 'POST', path: '/oauth2/token', headers: form, body })
    const refused = await ask(many(1001))
    expect(JSON.parse(refused.text)).toEqual({
      error: 'invalid_request',
      error_description: 'the form has more than 1000 fields',
    })
    expect(JSON.parse((await ask('a=1')).text).error).toBe('invalid_client')
  })
})

describe('codings of a body (RFC 9110 §15.5.16)', () => {
  const POSTS = ['/v1/partner/end_users', '/oauth2/token', '/_sandbox/faults', '/rpc/31337']
  const typeOf = (path: string) => (path === '/oauth2/token' ? 'application/x-www-form-urlencoded' : 'application/json')
  const post = (path: string, headers: Record<string, string>) =>
    send(sandbox.baseUrl, {
      method: 'POST',
      path,
      body: '[]',
      headers: { ...good, 'content-type': typeOf(path), ...headers },
    })

  test.each(POSTS)('POST %s: 415 for compressed bodies, and what would be read instead', async (path) => {
    for (const coding of ['gzip', 'br', 'deflate', 'x-gzip', 'gzip, identity', 'nonsense', 'GZIP']) {
      const answer = await post(path, { 'content-encoding': coding })
      const refusal = { status: 415, code: 'unsupported_media_type', param: 'Content-Encoding' }
      expectRefused(path, answer, refusal)
      expect(answer.headers['accept-encoding']).toBe('identity')
    }
    expect((await post(path, { 'content-encoding': 'identity' })).status).not.toBe(415)
  })

  test.each(POSTS)('POST %s: 415 for another charset', async (path) => {
    for (const charset of ['utf-16', '"utf-16le"', 'windows-1252', 'UTF-7', 'x', '']) {
      const answer = await post(path, { 'content-type': `${typeOf(path)}; charset=${charset}` })
      expect(answer.status).toBe(415)
      expectIdentified(answer)
    }
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'us-ascii']) {
      const answer = await post(path, { 'content-type': `${typeOf(path)};charset=${charset}` })
      expect(answer.status).not.toBe(415)
    }
  })

  test('a form is ASCII, whatever charset a client names', async () => {
    const { client_id, client_secret } = sandbox.tenants[0]!
    const { scope } = await sandbox.credentials()
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' }
    expect((await send(sandbox.baseUrl, { method: 'POST', path: '/oauth2/token', headers, body })).status).toBe(200)
  })

  test('without a body there is nothing to decode', async () => {
    const headers = { ...good, 'content-encoding': 'gzip', 'content-type': 'text/plain; charset=utf-16' }
    expect((await send(sandbox.baseUrl, { path: POOLS, headers })).status).toBe(200)
    expect((await send(sandbox.baseUrl, { method: 'DELETE', path: '/_sandbox/faults', headers })).status).toBe(204)
  })
})

describe('HTTP/2 that was not agreed on', () => {
  test('a client is told in HTTP/2 to use HTTP/1.1', async () => {
    const session = connectHttp2(sandbox.baseUrl)
    session.on('error', () => undefined)
    const told = await new Promise<[number, string]>((resolve) => {
      session.on('goaway', (code, _last, words) => resolve([code, Buffer.from(words ?? []).toString()]))
    })
    session.destroy()
    const HTTP_1_1_REQUIRED = 0x0d
    expect(told).toEqual([HTTP_1_1_REQUIRED, 'This server speaks HTTP/1.1.'])
  })
})

test('no page may be put into the frame of another one', async () => {
  for (const path of ['/docs', '/docs/docs.js', '/docs/swagger-ui.css']) {
    const { status, headers } = await send(sandbox.baseUrl, { path })
    expect(status).toBe(200)
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
    )
    expect(headers['x-frame-options']).toBe('DENY')
  }
})
