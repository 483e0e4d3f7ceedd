import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SandboxHandle, TokenWish } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let form: Record<string, string>
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  await sandbox.reset()
  const { client_id, client_secret } = sandbox.tenants[0]!
  const { scope } = await sandbox.credentials()
  form = { grant_type: 'client_credentials', client_id, client_secret, scope }
})

const causes = async () => (await sandbox.report()).configuration
const askToken = (fields: Record<string, string>, url = sandbox.authUrl) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields) })

async function listWith({ user, idp }: { user?: TokenWish; idp?: TokenWish }) {
  const headers = {
    ...(user && { 'x-user-token': await sandbox.userToken('alice', user) }),
    ...(idp && { authorization: `Bearer ${await sandbox.idpToken(idp)}` }),
  }
  return new Partner(sandbox).get('end_users/alice/portfolios', { headers })
}

const hence = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

describe('the set-up of user tokens', () => {
  test.each<[id: string, wish: TokenWish, expected: string, came: string]>([
    ['user-token-issuer', { claims: { iss: 'https://else.example' } }, 'iss "https://', 'iss "https://else.example"'],
    ['user-token-audience', { claims: { aud: 'api://else' } }, 'aud "api://yield-sandbox"', 'aud "api://else"'],
    ['user-token-key-id', { header: { kid: 'key-9' } }, 'kid ', 'kid "key-9"'],
    ['user-token-key', { key: 'unknown' }, 'a signature', 'a signature that'],
  ])('%s', async (id, user, expected, came) => {
    for (const _ of [1, 2]) expect((await listWith({ user })).status).toBe(401)
    const found = await causes()
    expect(found).toMatchObject([{ id, count: 2, blocking: true }])
    expect(found[0]!.expected).toContain(expected)
    expect(found[0]!.came).toContain(came)
    expect((await sandbox.report()).verdict).toBe('inconclusive')
  })

  test.each([
    ['fast', () => ({ claims: { iat: hence(3600), exp: hence(7200) } }), /^iat 3,(600|59\d) s ahead$/],
    ['slow', () => ({ claims: { iat: hence(-7200), exp: hence(-3600) } }), /^exp 3,60\d s ago$/],
  ])('a %s clock', async (word, wish, came) => {
    expect((await listWith({ user: wish() })).status).toBe(401)
    expect(await causes()).toMatchObject([
      { id: 'user-token-clock', title: expect.stringContaining(word), came: expect.stringMatching(came) },
    ])
  })

  test('a deliberate test of a refusal is no cause once a request gets past', async () => {
    await listWith({ user: { claims: { iss: 'https://else.example' } } })
    expect((await listWith({})).status).toBe(200)
    expect(await causes()).toEqual([])
  })
})

describe('the set-up of access tokens', () => {
  test.each<[id: string, wish: TokenWish]>([
    ['idp-token-audience', { claims: { aud: 'api://else' } }],
    ['idp-token-application', { claims: { appid: 'somebody' } }],
    ['idp-token-issuer', { claims: { iss: 'https://login.example' } }],
    ['idp-token-issuer', { key: 'unknown' }],
    ['tenant-id', { claims: { tid: '00000000-0000-4000-8000-000000000000' } }],
    ['idp-token-clock', { expiresIn: -100 }],
  ])('%s', async (id, idp) => {
    expect((await listWith({ idp })).status).toBe(401)
    expect(await causes()).toMatchObject([{ id }])
  })
})

describe('the token endpoint', () => {
  test.each<[id: string, fields: Record<string, string>, came: string]>([
    ['client-id', { client_id: 'somebody' }, expect.stringMatching(/^client_id \[hidden [0-9a-f]{8}\]$/)],
    ['client-secret', { client_secret: 'guess-me-not' }, 'another one'],
    ['token-scope', { scope: 'api://else/.default' }, 'scope api://else/.default'],
    ['token-request', { grant_type: 'password' }, 'password'],
  ])('%s', async (id, fields, came) => {
    expect((await askToken({ ...form, ...fields })).status).toBeGreaterThanOrEqual(400)
    const found = await causes()
    expect(found).toMatchObject([{ id, came }])
    expect(JSON.stringify(found)).not.toContain('guess-me-not')
    expect((await askToken(form)).status).toBe(200)
    expect(await causes()).toEqual([])
  })

  test('a form sent as JSON', async () => {
    const headers = { 'content-type': 'application/json' }
    await fetch(sandbox.authUrl, { method: 'POST', headers, body: JSON.stringify(form) })
    expect(await causes()).toMatchObject([{ id: 'token-request', expected: 'application/x-www-form-urlencoded' }])
  })

  test('the tenant of another in its address', async () => {
    const url = `${sandbox.baseUrl}/${sandbox.tenants[1]!.tenant_id}/oauth2/v2.0/token`
    expect((await askToken(form, url)).status).toBe(401)
    expect(await causes()).toMatchObject([{ id: 'tenant-id', expected: sandbox.tenants[0]!.tenant_id }])
  })
})

test.each([
  ['/partner/pools', 'GET'],
  ['/v1/v1/partner/pools', 'GET'],
  ['/api/v1/partner/pools', 'GET'],
  ['/v1/oauth2/token', 'POST'],
])('the base URL: %s', async (path, method) => {
  const { status } = await fetch(`${sandbox.baseUrl}${path}`, { method })
  expect(status).toBe(404)
  expect(await causes()).toMatchObject([{ id: 'base-url', came: path, blocking: true }])
})
