import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { idpToken, seconds, strangersKey, userToken } from '../helpers/tokens.ts'

/** Other tenants' demo keys, which are as good as new ones for a tenant that has none of them. */
function keyPair(name: string) {
  const privateKey = createPrivateKey(readFileSync(new URL(`../../fixtures/demo-keys/${name}.pem`, import.meta.url)))
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
const own = keyPair('acme')
const { n, e } = own.publicKey.export({ format: 'jwk' })
const next = keyPair('identity-provider')
const jwk = { kty: 'RSA', n: n!, e: e!, kid: 'own-1', alg: 'RS256', use: 'sig' }

let sandbox: SandboxHandle
/** Tokens for ten minutes, a leeway of five seconds; keys registered in every other way; a tenant that may list portfolios only. */
let switched: SandboxHandle
let acme: Partner
let keyServer: Server
let keysServed = 0
let keySet = [jwk]
beforeAll(async () => {
  keyServer = createServer((_request, response) => {
    keysServed++
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: keySet }))
  })
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve))
  const { port } = keyServer.address() as AddressInfo
  const change = (fixture: FixtureFile) => registerKeys(fixture, `http://127.0.0.1:${port}/jwks.json`)
  ;[sandbox, switched] = await Promise.all([testSandbox(), sandboxWith(change)])
  acme = new Partner(sandbox)
})
afterAll(async () => {
  keyServer.close()
  await Promise.all([sandbox.stop(), switched.stop()])
})

function registerKeys(fixture: FixtureFile, jwks_uri: string): void {
  fixture.service = { idp_token_lifetime: 600, user_token_leeway: 5 }
  const [, globex, restricted] = fixture.tenants
  globex!.key = { jwks_uri }
  const public_key_pem = own.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  restricted!.key = { kid: 'own-1', public_key_pem }
  restricted!.access = ['list_portfolios']
  restricted!.end_users = [{ external_id: 'rita' }]
  fixture.tenants.push({
    slug: 'keyed',
    tenant_id: crypto.randomUUID(),
    client_id: crypto.randomUUID(),
    client_secret: 'keyed-secret',
    issuer: 'https://keyed.example',
    key: { jwks: { keys: [jwk] } },
    access: 'all',
    end_users: [{ external_id: 'kim' }],
  })
}

test("Assumption idp-token-claims: an Entra v1 application token's", async () => {
  const token = await acme.idpToken()
  const { client_id, tenant_id } = sandbox.tenants[0]!
  const claims = decodeJwt(token)
  expect(claims).toMatchObject({
    aud: 'api://yield-sandbox',
    appid: client_id,
    appidacr: '1',
    tid: tenant_id,
    ver: '1.0',
  })
  expect(claims).toMatchObject({ iss: sandbox.baseUrl, oid: claims.sub, roles: expect.arrayContaining(['deposit']) })
  expect(claims.exp! - claims.iat!).toBe(3600)
  expect(claims.nbf).toBe(claims.iat)
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', kid: expect.any(String), typ: 'JWT' })
})

const grant = (of: SandboxHandle, change: Record<string, string> = {}, headers: Record<string, string> = {}) => {
  const { client_id, client_secret } = of.tenants[0]!
  const scope = 'api://yield-sandbox/.default'
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope, ...change }
  const body = new URLSearchParams(Object.entries(form).filter(([, value]) => value !== ''))
  return fetch(of.authUrl, { method: 'POST', body, headers })
}

test('Assumption idp-lifetime: 3600 s, or as set', async () => {
  expect(await (await grant(sandbox)).json()).toMatchObject({ expires_in: 3600 })
  expect(await (await grant(switched)).json()).toMatchObject({ expires_in: 600 })
})

test('Assumption idp-errors: RFC 6749 bodies, never cached; the secret in the form or by HTTP Basic', async () => {
  const basic = `Basic ${Buffer.from(`${sandbox.tenants[0]!.client_id}:acme-demo-secret`).toString('base64')}`
  expect((await grant(sandbox, { client_id: '', client_secret: '' }, { authorization: basic })).status).toBe(200)
  const refusals: [Record<string, string>, number, string][] = [
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ grant_type: '' }, 400, 'invalid_request'],
    [{ client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ client_id: 'nobody' }, 401, 'invalid_client'],
    [{ scope: 'api://else/.default' }, 400, 'invalid_scope'],
  ]
  for (const [change, status, error] of refusals) {
    const response = await grant(sandbox, change)
    expect([response.status, await response.json()]).toEqual([status, { error, error_description: expect.any(String) }])
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

test('Assumption user-key: the fixture registers jwks_uri (fetched once), jwks or a PEM', async () => {
  const minted = (sub: string, iss: string) =>
    userToken(switched, { claims: { sub, iss }, header: { kid: 'own-1' }, key: own.privateKey })
  const list = async (tenant: string, sub: string, kid = 'own-1') => {
    const iss = `https://${tenant}.example`
    const token =
      kid === 'own-1' ? await minted(sub, iss) : await userToken(switched, { claims: { sub, iss }, header: { kid } })
    return outcome(
      await new Partner(switched, tenant).get(`end_users/${sub}/portfolios`, {
        user: null,
        headers: { 'x-user-token': token },
      }),
    )
  }
  expect(await list('keyed', 'kim')).toBe('200')
  expect(await list('restricted', 'rita')).toBe('200')
  expect([await list('globex', 'bob'), await list('globex', 'bob'), keysServed]).toEqual(['200', '200', 1])
  for (const [tenant, user] of [
    ['keyed', 'kim'],
    ['restricted', 'rita'],
    ['globex', 'bob'],
  ] as const) {
    expect(await list(tenant, user, 'acme-1')).toBe('401 invalid_user_token')
  }
})

test('jwks-cache: DELETE /_sandbox/jwks_cache forgets fetched keys, so that a rotation shows at once', async () => {
  const globex = new Partner(switched, 'globex')
  const list = async (key: KeyObject) => {
    const claims = { sub: 'bob', iss: 'https://globex.example' }
    const token = await userToken(switched, { claims, header: { kid: 'own-1' }, key })
    return outcome(await globex.get('end_users/bob/portfolios', { user: null, headers: { 'x-user-token': token } }))
  }
  expect(await list(own.privateKey)).toBe('200')
  // The key behind the kid is replaced: a kid that is known is not asked for again.
  const rotated = next.publicKey.export({ format: 'jwk' })
  keySet = [{ ...jwk, n: rotated.n!, e: rotated.e! }]
  expect([await list(own.privateKey), await list(next.privateKey)]).toEqual(['200', '401 invalid_user_token'])
  const forgotten = await fetch(`${switched.controlUrl}/jwks_cache`, { method: 'DELETE' })
  expect([forgotten.status, await forgotten.text()]).toEqual([204, ''])
  expect([await list(own.privateKey), await list(next.privateKey)]).toEqual(['401 invalid_user_token', '200'])
})

test('Assumption user-token-issuer: a wrong iss, aud, alg, kid or typ, or no header, is 401 invalid_user_token', async () => {
  const list = (token: string | null) => acme.get('end_users/alice/portfolios', { headers: { 'x-user-token': token } })
  const wrong = [
    { claims: { iss: 'https://else.example' } },
    { claims: { aud: 'api://else' } },
    { header: { alg: 'PS256' } },
    { header: { kid: 'else' } },
    { header: { typ: 'at+jwt' } },
    { key: strangersKey() },
  ]
  for (const change of wrong) {
    expect(outcome(await list(await userToken(sandbox, change)))).toBe('401 invalid_user_token')
  }
  expect(outcome(await list(null))).toBe('401 invalid_user_token')
  expect(outcome(await list(await userToken(sandbox)))).toBe('200')
})

test('Assumption user-token-times: iat may be absent, iat and nbf 60 s ahead or as set; exp is exact', async () => {
  const list = async (of: SandboxHandle, claims: object) => {
    const headers = { 'x-user-token': await userToken(of, { claims: { ...claims } }) }
    return outcome(await new Partner(of).get('end_users/alice/portfolios', { headers }))
  }
  for (const claims of [{ iat: undefined }, { iat: seconds() + 50 }, { nbf: seconds() + 50 }]) {
    expect(await list(sandbox, claims)).toBe('200')
  }
  for (const claims of [{ iat: seconds() + 90 }, { nbf: seconds() + 90 }, { exp: seconds() - 1 }]) {
    expect(await list(sandbox, claims)).toBe('401 invalid_user_token')
  }
  expect(await list(switched, { iat: seconds() + 50 })).toBe('401 invalid_user_token')
  expect(await list(switched, { nbf: seconds() + 50 })).toBe('401 invalid_user_token')
  expect(await list(sandbox, { exp: seconds() + 100 * 365 * 86_400 })).toBe('200')
})

test('Assumption idp-token-issuer: another iss, tid or ver in a well-signed token is 401 invalid_idp_token', async () => {
  const pools = async (claims: object) => {
    const headers = { authorization: `Bearer ${await idpToken(sandbox, { ...claims })}` }
    return acme.get('pools', { headers })
  }
  expect(outcome(await pools({}))).toBe('200')
  const others = [{ iss: 'https://sts.example' }, { tid: sandbox.tenants[1]!.tenant_id }, { ver: '2.0' }]
  for (const claims of [...others, { iss: undefined }, { tid: undefined }, { ver: undefined }]) {
    expect(outcome(await pools(claims))).toBe('401 invalid_idp_token')
  }
  expect((await pools({ tid: 'another' })).body.detail).toContain(sandbox.tenants[0]!.tenant_id)
})

test('Behaviour idp-issuer: each name of loopback, and the address of the tenant there; no other', async () => {
  const own = sandbox.tenants[0]!.tenant_id
  const pools = async (iss: string) =>
    outcome(await acme.get('pools', { headers: { authorization: `Bearer ${await idpToken(sandbox, { iss })}` } }))
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    const url = sandbox.baseUrl.replace('127.0.0.1', name)
    expect(await pools(url)).toBe('200')
    expect(await pools(`${url}/${own}/v2.0`)).toBe('200')
    for (const other of [
      `${url}/`,
      `${url}0`,
      `${url}/${sandbox.tenants[1]!.tenant_id}/v2.0`,
      `${url}/undefined/v2.0`,
    ]) {
      expect(await pools(other)).toBe('401 invalid_idp_token')
    }
  }
})

test('Assumption role-access: every endpoint, unless access lists fewer', async () => {
  const restricted = new Partner(sandbox, 'restricted')
  expect(outcome(await restricted.get('pools'))).toBe('200')
  expect(outcome(await restricted.post('end_users', { external_id: 'x' }))).toBe('403 insufficient_role')
  const switchedRestricted = new Partner(switched, 'restricted')
  expect(outcome(await switchedRestricted.get('pools'))).toBe('403 insufficient_role')
})
