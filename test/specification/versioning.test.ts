import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

/** Versioning 3 to 6 are promises about later versions, which a running v1 cannot show; 7 is the client's part. */

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

test('Versioning 1: the version is in the path prefix /v1/', async () => {
  const authorization = `Bearer ${await acme.idpToken()}`
  const status = async (path: string) =>
    (await fetch(`${sandbox.baseUrl}${path}`, { headers: { authorization } })).status
  expect(await status('/v1/partner/pools')).toBe(200)
  expect(await status('/partner/pools')).toBe(404)
  expect(await status('/v2/partner/pools')).toBe(404)
})

test('Versioning 1: there is no version request header', async () => {
  const headers = { 'X-Service-Api-Version': '2.0.0', 'Api-Version': '2' }
  const { status, headers: answered } = await acme.get('pools', { headers })
  expect([status, answered.get('X-Service-Api-Version')]).toEqual([200, '1.0.0'])
})

describe('Versioning 2: every response carries X-Service-Api-Version 1.0.0 and X-Service-Request-Id', () => {
  const v1 = (path: string, init: RequestInit = {}) => fetch(`${sandbox.baseUrl}/v1/partner/${path}`, init)
  const json = { 'content-type': 'application/json' }
  test.each<[string, () => Promise<{ status: number; headers: Headers }>, number]>([
    ['success', () => acme.get('pools'), 200],
    ['created', () => acme.post('end_users', { external_id: 'vic' }), 201],
    ['validation', () => acme.get('pools?limit=0'), 400],
    ['malformed JSON', () => acme.ask('POST', 'end_users', { body: '{' }), 400],
    ['malformed path', () => v1('end_users/%zz/portfolios'), 400],
    ['authentication', () => v1('pools'), 401],
    ['authorization', () => acme.get('end_users/alice/portfolios', { user: 'bob' }), 403],
    ['unknown end user', () => acme.get('end_users/nobody/portfolios'), 404],
    ['unknown path', () => v1('nothing'), 404],
    ['wrong method', () => v1('pools', { method: 'DELETE' }), 405],
    ['too large', () => acme.ask('POST', 'end_users', { body: `"${'x'.repeat(200_000)}"` }), 413],
    [
      'wrong content type',
      () => acme.ask('POST', 'end_users', { body: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
    ],
    ['unknown pool', () => unknownPool(), 422],
    ['body without a token', () => v1('end_users', { method: 'POST', headers: json, body: '{}' }), 401],
  ])('Versioning 2: %s', async (_what, send, status) => {
    const { status: got, headers } = await send()
    expect(got).toBe(status)
    expect(headers.get('X-Service-Api-Version')).toBe('1.0.0')
    expect(headers.get('X-Service-Request-Id')).toMatch(/^\S+$/)
  })

  test('Versioning 2: what is not HTTP', async () => {
    const answer = await raw('NONSENSE\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^X-Service-Api-Version: 1\.0\.0\r$/m)
    expect(answer).toMatch(/^X-Service-Request-Id: \S+\r$/m)
  })

  test('Versioning 2: the request identifier is of this request alone', async () => {
    const ids = (await Promise.all(Array.from({ length: 20 }, () => acme.get('pools')))).map(({ headers }) =>
      headers.get('X-Service-Request-Id'),
    )
    expect(new Set(ids).size).toBe(20)
  })
})

async function unknownPool() {
  const body = await acme.portfolioBody('aave-usdc')
  return acme.post('end_users/alice/portfolios', { ...body, chain_id: '1' })
}

/** Sends bytes and returns all that comes back until the connection ends. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer)).on('error', reject)
    socket.write(bytes)
  })
}
