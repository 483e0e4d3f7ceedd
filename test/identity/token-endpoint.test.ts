import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as oauth from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, type IdentityServer, startIdentityServer } from './identity-server.ts'

const SCOPE = 'api://yield-sandbox/.default'
const FORM = 'application/x-www-form-urlencoded'

let server: IdentityServer

beforeAll(async () => {
  server = await startIdentityServer()
})

afterAll(() => server.app.close())

const good = {
  grant_type: 'client_credentials',
  client_id: ACME.client_id,
  client_secret: ACME.client_secret,
  scope: SCOPE,
}
const { client_id: _id, client_secret: _secret, ...withoutClient } = good

function post(form: Record<string, string> | string, headers: Record<string, string> = {}, path = '/oauth2/token') {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
  return fetch(server.baseUrl + path, { method: 'POST', headers: { 'content-type': FORM, ...headers }, body })
}

const basic = (id: string, secret: string) => {
  const encode = (text: string) => new URLSearchParams({ x: text }).toString().slice(2)
  return { authorization: `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}` }
}

async function expectError(response: Response, status: number, error: string) {
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('pragma')).toBe('no-cache')
  const body = (await response.json()) as { error: string; error_description: string }
  expect(body.error).toBe(error)
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(body.error_description).not.toContain(ACME.client_secret)
  return body.error_description
}

describe('an OAuth client library', () => {
  it.each([
    ['127.0.0.1', 'in the form', oauth.ClientSecretPost],
    ['127.0.0.1', 'by HTTP Basic', oauth.ClientSecretBasic],
    ['localhost', 'in the form', oauth.ClientSecretPost],
  ])('discovers the provider at %s and obtains a token with the secret %s', async (host, _where, authentication) => {
    const config = await oauth.discovery(
      new URL(`http://${host}:${server.port}`),
      ACME.client_id,
      undefined,
      authentication(ACME.client_secret),
      { execute: [oauth.allowInsecureRequests] },
    )
    expect(config.serverMetadata().issuer).toBe(`http://${host}:${server.port}`)
    const token = await oauth.clientCredentialsGrant(config, { scope: SCOPE })
    expect(token.expiresIn()).toBeGreaterThan(3590)
    expect(token.token_type).toBe('bearer')
  })

  it('is told by error code what is wrong', async () => {
    const config = await oauth.discovery(
      new URL(server.baseUrl),
      ACME.client_id,
      undefined,
      oauth.ClientSecretBasic('wrong'),
      { execute: [oauth.allowInsecureRequests] },
    )
    await expect(oauth.clientCredentialsGrant(config, { scope: SCOPE })).rejects.toBeInstanceOf(
      oauth.WWWAuthenticateChallengeError,
    )
  })
})

describe('a token', () => {
  it('verifies against the published keys and carries the claims of an application token', async () => {
    const response = await post(good)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('pragma')).toBe('no-cache')
    const body = (await response.json()) as { access_token: string }
    expect(body).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      ext_expires_in: 3600,
      access_token: expect.any(String),
    })

    const keys = createRemoteJWKSet(new URL(`${server.baseUrl}/.well-known/jwks.json`))
    const { payload, protectedHeader } = await jwtVerify(body.access_token, keys)
    expect(protectedHeader).toEqual({ alg: 'RS256', kid: 'idp-1', typ: 'JWT' })
    const now = Math.floor(server.clock.wallNow() / 1000)
    expect(payload).toEqual({
      aud: 'api://yield-sandbox',
      iss: server.baseUrl,
      iat: expect.closeTo(now, -1),
      nbf: payload.iat,
      exp: (payload.iat ?? 0) + 3600,
      appid: ACME.client_id,
      appidacr: '1',
      tid: ACME.tenant_id,
      oid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
      sub: payload.oid,
      roles: expect.arrayContaining(['list_pools', 'deposit']),
      ver: '1.0',
    })
    expect(JSON.stringify(server.provider.jwks())).not.toContain('"d"')
  })

  it('is issued at the tenant’s own address too', async () => {
    expect((await post(good, {}, `/${ACME.tenant_id}/oauth2/v2.0/token`)).status).toBe(200)
    await expectError(await post(good, {}, '/other-tenant/oauth2/v2.0/token'), 401, 'invalid_client')
  })

  it('is issued whatever further parameters and charset come along', async () => {
    const headers = { 'content-type': `${FORM}; charset=UTF-8` }
    expect((await post({ ...good, resource: 'x', __proto__x: 'y' }, headers)).status).toBe(200)
  })

  it('is issued when the client id stands in the form beside HTTP Basic', async () => {
    const headers = basic(ACME.client_id, ACME.client_secret)
    expect((await post({ ...withoutClient, client_id: ACME.client_id }, headers)).status).toBe(200)
    await expectError(await post({ ...withoutClient, client_id: 'other' }, headers), 400, 'invalid_request')
  })
})

describe('invalid_client', () => {
  it.each<[string, Record<string, string>]>([
    ['no credentials', withoutClient],
    ['no client_id', { ...withoutClient, client_secret: ACME.client_secret }],
    ['no client_secret', { ...withoutClient, client_id: ACME.client_id }],
    ['an empty client_secret', { ...good, client_secret: '' }],
    ['an unknown client', { ...good, client_id: 'nobody' }],
    ['a prototype member as client', { ...good, client_id: '__proto__' }],
    ['a wrong secret', { ...good, client_secret: 'wrong' }],
    ['a secret that only begins alike', { ...good, client_secret: ACME.client_secret.slice(0, -1) }],
  ])('answers %s', async (_name, form) => {
    const response = await post(form)
    expect(response.headers.get('www-authenticate')).toBeNull()
    await expectError(response, 401, 'invalid_client')
  })

  const header = (value: string) => ({ authorization: value })
  const genuine = basic(ACME.client_id, ACME.client_secret).authorization
  it.each([
    ['a wrong secret', basic(ACME.client_id, 'wrong')],
    ['another scheme', header('Bearer abc')],
    ['an empty header', header('Basic ')],
    ['no base64', header('Basic ???')],
    ['base64 without its padding', header(genuine.replace(/=+$/, ''))],
    ['base64 with padding too many', header(`${genuine}=`)],
    ['no colon', header(`Basic ${Buffer.from('acme-client').toString('base64')}`)],
    ['broken percent-encoding', header(`Basic ${Buffer.from('acme-client:%zz').toString('base64')}`)],
    [
      'a secret that was not percent-encoded',
      header(`Basic ${Buffer.from(`acme-client:${ACME.client_secret}`).toString('base64')}`),
    ],
  ])('names the scheme when the Authorization header holds %s', async (_name, headers) => {
    const response = await post(withoutClient, headers)
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
    await expectError(response, 401, 'invalid_client')
  })
})

describe('the other errors of RFC 6749', () => {
  it.each(['grant_type', 'scope'])('answers invalid_request without %s, also when it is empty', async (name) => {
    const { [name as keyof typeof good]: _taken, ...rest } = good
    expect(await expectError(await post(rest), 400, 'invalid_request')).toContain(name)
    await expectError(await post({ ...good, [name]: '' }), 400, 'invalid_request')
  })

  it.each(['password', 'authorization_code', 'Client_Credentials'])(
    'answers unsupported_grant_type to %s',
    async (grant_type) => {
      await expectError(await post({ ...good, grant_type }), 400, 'unsupported_grant_type')
    },
  )

  it.each(['api://yield-sandbox', 'yield-sandbox/.default', 'api://other/.default', `${SCOPE} openid`, 'x'])(
    'answers invalid_scope to %s',
    async (scope) => {
      expect(await expectError(await post({ ...good, scope }), 400, 'invalid_scope')).toContain(SCOPE)
    },
  )

  it.each(['scope', 'client_id', 'x', '"\\é'])('answers invalid_request when %s is given twice', async (name) => {
    const extra = new URLSearchParams([
      [name, 'a'],
      [name, 'a'],
    ])
    await expectError(await post(`${new URLSearchParams(good)}&${extra}`), 400, 'invalid_request')
  })

  it('answers invalid_request when the client authenticates twice', async () => {
    await expectError(await post(good, basic(ACME.client_id, ACME.client_secret)), 400, 'invalid_request')
  })

  it.each([
    ['application/json', JSON.stringify(good)],
    ['multipart/form-data; boundary=x', '--x--'],
    ['text/plain', 'x'],
    ['', 'x'],
    ['not a type', 'x'],
  ])('answers invalid_request to the content type %j', async (type, body) => {
    await expectError(await post(body, { 'content-type': type }), 400, 'invalid_request')
  })

  it('answers a body of nothing, of rubbish, of bad UTF-8', async () => {
    await expectError(await fetch(`${server.baseUrl}/oauth2/token`, { method: 'POST' }), 401, 'invalid_client')
    await expectError(await post('%%%&=&%ff%fe'), 401, 'invalid_client')
    const bytes = Buffer.from([0xff, 0xfe, 0x3d, 0x00])
    const response = await fetch(`${server.baseUrl}/oauth2/token`, {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: bytes,
    })
    await expectError(response, 401, 'invalid_client')
  })

  it('answers invalid_request to an oversized body', async () => {
    await expectError(await post({ ...good, x: 'x'.repeat(200_000) }), 413, 'invalid_request')
  })

  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('answers 405 to %s', async (method) => {
    for (const path of ['/oauth2/token', `/${ACME.tenant_id}/oauth2/v2.0/token`]) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(server.baseUrl + path, { method, headers, ...(method === 'PUT' && { body: '{' }) })
      expect(response.headers.get('allow')).toBe('POST')
      await expectError(response, 405, 'invalid_request')
    }
  })

  it('answers 405 to HEAD', async () => {
    const response = await fetch(`${server.baseUrl}/oauth2/token`, { method: 'HEAD' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('answers server_error when the sandbox itself fails, saying no more', async () => {
    const description = await expectError(await post({ ...good, client_id: 'broken-store' }), 500, 'server_error')
    expect(description).not.toContain('store')
  })
})

describe('the discovery document', () => {
  const about = (url: string, issuer = url) => ({
    issuer,
    jwks_uri: `${url}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
  })
  const inject = async (url: string, host: string) =>
    (await server.app.inject({ url, headers: { host } })).json() as Record<string, unknown>

  it.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])(
    'knows the names of loopback at %s, and repeats no other Host',
    async (path) => {
      for (const name of ['127.0.0.1', 'localhost', '[::1]', 'LocalHost']) {
        const url = `http://${name.toLowerCase()}:${server.port}`
        const endpoints = { token_endpoint: `${url}/oauth2/token`, authorization_endpoint: `${url}/oauth2/authorize` }
        expect(await inject(path, `${name}:${server.port}`)).toMatchObject({ ...about(url), ...endpoints })
      }
      for (const host of ['sandbox:4010', `evil.example:${server.port}`, 'localhost', 'localhost:1', 'a"b/c', '']) {
        expect(await inject(path, host)).toMatchObject(about(server.baseUrl))
      }
    },
  )

  it.each([
    `/${ACME.tenant_id}/v2.0/.well-known/openid-configuration`,
    `/.well-known/oauth-authorization-server/${ACME.tenant_id}/v2.0`,
  ])("is that of the tenant's own address at %s", async (path) => {
    const url = `http://localhost:${server.port}`
    const own = `${url}/${ACME.tenant_id}`
    expect(await inject(path, `localhost:${server.port}`)).toMatchObject({
      ...about(url, `${own}/v2.0`),
      token_endpoint: `${own}/oauth2/v2.0/token`,
      authorization_endpoint: `${own}/oauth2/v2.0/authorize`,
    })
    const unknown = await server.app.inject(path.replace(ACME.tenant_id, 'common'))
    expect(unknown.statusCode).toBe(404)
  })

  it.each(['/oauth2/authorize', `/${ACME.tenant_id}/oauth2/v2.0/authorize`])(
    'names an authorization endpoint, %s, where nobody can sign in',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${server.baseUrl}${path}?response_type=code&redirect_uri=https://app.example/`, {
          method,
          redirect: 'manual',
        })
        const description = await expectError(response, 400, 'unsupported_response_type')
        expect(description).toContain('client_credentials')
      }
    },
  )
})
