import { createPrivateKey, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { expectRefusal, goodHeaders, type RawAnswer, send } from './raw-http.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  await acme.open('alice')
})
afterAll(() => sandbox.stop())

const LEVELS = [65, 1000, 5000, 30_000]
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const list = (values: number) => `[${'1,'.repeat(values)}1]`

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const json = { 'content-type': 'application/json', ...headers }
  return send(sandbox.baseUrl, { method: 'POST', path, headers: json, body })
}

function expectLimit(answer: RawAnswer, limit: string): void {
  expectRefusal(answer, { status: 400, code: 'validation_error', param: 'body' })
  expect(JSON.parse(answer.text).detail).toBe(`The body ${limit}.`)
}

describe('a body that nests too deeply or holds too much is refused with the limit', () => {
  test.each([
    '/v1/partner/end_users',
    '/v1/partner/end_users/alice/portfolios',
    '/v1/partner/end_users/alice/deposit',
    '/v1/partner/end_users/alice/withdraw',
    '/_sandbox/clock',
    '/_sandbox/faults',
    '/_sandbox/scenarios',
    '/_sandbox/tenants/acme/user_tokens',
    '/_sandbox/tenants/acme/idp_tokens',
  ])('POST %s', async (path) => {
    for (const levels of LEVELS) {
      for (const body of [nested(levels), `{"claims":{"x":${nested(levels)}}}`, `{"with":${nested(levels)}}`]) {
        expectLimit(await post(path, body, await goodHeaders(acme)), 'nests deeper than 64 levels')
      }
    }
    expectLimit(await post(path, list(10_000), await goodHeaders(acme)), 'holds more than 10000 values')
  })

  test('64 levels are claims like any others', async () => {
    const body = `{"external_id":"alice","claims":{"x":${nested(62)}}}`
    expect((await post('/_sandbox/tenants/acme/user_tokens', body)).status).toBe(201)
  })

  test('of a scenario, which takes longer to read, fewer values', async () => {
    const answer = await post('/_sandbox/scenarios', list(2000))
    expectRefusal(answer, { status: 400, code: 'validation_error', param: 'body' })
    expect(JSON.parse(answer.text).detail).toContain('holds more than 2000 values')
  })
})

describe('JSON-RPC says so in its own words', () => {
  const rpc = async (body: string) => JSON.parse((await post('/rpc/31337', body)).text)

  test.each(['eth_chainId', 'eth_getLogs', 'anvil_setCoinbase', 'nothing'])('%s', async (method) => {
    for (const levels of LEVELS) {
      for (const call of [
        `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${nested(levels)}}`,
        `[{"jsonrpc":"2.0","id":${nested(levels)},"method":"${method}"}]`,
      ]) {
        expect(await rpc(call)).toEqual({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32600, message: 'The body nests deeper than 64 levels.' },
        })
      }
    }
  })

  test('of values as well; what is no JSON at all stays a parse error', async () => {
    expect((await rpc(list(100_000))).error).toEqual({
      code: -32600,
      message: 'The body holds more than 100000 values.',
    })
    for (const body of ['', '{', '['.repeat(60)]) expect((await rpc(body)).error.code).toBe(-32700)
  })
})

describe('a signed token that nests too deeply is refused', () => {
  /** A token with acme's own good signature. */
  function signed(header: string, claims: string): string {
    const input = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.')
    const key = createPrivateKey(sandbox.tenants[0]!.private_key_pem!)
    return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`
  }
  const header = (extra = '') => `{"alg":"RS256","typ":"JWT","kid":"${sandbox.tenants[0]!.kid}"${extra}}`

  test('in a header of HTTP and in a body', async () => {
    const good = await goodHeaders(acme)
    for (const levels of [65, 1000, 4000]) {
      for (const [token, part] of [
        [signed(header(), `{"sub":"alice","aud":${nested(levels)},"exp":9999999999}`), 'payload'],
        [signed(header(), `{"sub":${nested(levels)},"exp":9999999999}`), 'payload'],
        [signed(header(`,"x":${nested(levels)}`), '{"sub":"alice"}'), 'header'],
        [signed(`{"alg":${nested(levels)}}`, '{}'), 'header'],
      ] as const) {
        const detail = `refused: its ${part} nests deeper than 64 levels.`
        const path = '/v1/partner/end_users/alice/portfolios'
        const asHeader = await send(sandbox.baseUrl, { path, headers: { ...good, 'x-user-token': token } })
        expectRefusal(asHeader, { status: 401, code: 'invalid_user_token', param: 'X-User-Token' })
        expect(JSON.parse(asHeader.text).detail).toContain(detail)
        const authorization = `Bearer ${token}`
        const asIdp = await send(sandbox.baseUrl, { path, headers: { ...good, authorization } })
        expectRefusal(asIdp, { status: 401, code: 'invalid_idp_token', param: 'Authorization' })
        expect(JSON.parse(asIdp.text).detail).toContain(detail)
      }
    }
    const claims = `{"sub":"alice","aud":${nested(20_000)},"exp":9999999999}`
    const body = JSON.stringify({ external_id: 'alice', user_jwt: signed(header(), claims) })
    expectRefusal(await post('/v1/partner/end_users', body, good), { status: 401, code: 'invalid_user_token' })
  })
})
