import { createRemoteJWKSet, jwtVerify } from 'jose'
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrant,
  discovery,
  ResponseBodyError,
} from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle, TenantCredentials } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

const discovered = (authentication: ReturnType<typeof ClientSecretPost>, id = sandbox.tenants[0]!.client_id) =>
  discovery(new URL(sandbox.baseUrl), id, undefined, authentication, { execute: [allowInsecureRequests] })

test.each([
  ['in the form', ClientSecretPost],
  ['by HTTP Basic', ClientSecretBasic],
])('openid-client obtains a token with its secret %s, and the service takes it', async (_how, method) => {
  const config = await discovered(method(sandbox.tenants[0]!.client_secret))
  const { scope, audience } = await sandbox.credentials()
  const token = await clientCredentialsGrant(config, { scope })
  expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600 })
  const headers = { authorization: `Bearer ${token.access_token}` }
  expect((await new Partner(sandbox).get('pools', { headers })).status).toBe(200)

  const { issuer, jwks_uri } = config.serverMetadata()
  const keys = createRemoteJWKSet(new URL(jwks_uri!))
  const { payload, protectedHeader } = await jwtVerify(token.access_token, keys, { issuer, audience })
  expect(payload.appid).toBe(sandbox.tenants[0]!.client_id)
  expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT' })
})

test.each(['127.0.0.1', 'localhost', '[::1]'])('openid-client and jose find one issuer at %s', async (name) => {
  const [{ client_id, client_secret, tenant_id }] = sandbox.tenants as [TenantCredentials]
  const { scope, audience } = await sandbox.credentials()
  const url = sandbox.baseUrl.replace('127.0.0.1', name)
  for (const issuer of [url, `${url}/${tenant_id}/v2.0`]) {
    for (const algorithm of ['oidc', 'oauth2'] as const) {
      const config = await discovery(new URL(issuer), client_id, undefined, ClientSecretPost(client_secret), {
        algorithm,
        execute: [allowInsecureRequests],
      })
      const { access_token } = await clientCredentialsGrant(config, { scope })
      const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri!))
      await jwtVerify(access_token, keys, { issuer, audience })
      const headers = { authorization: `Bearer ${access_token}` }
      expect((await fetch(`${url}/v1/partner/pools`, { headers })).status).toBe(200)
    }
  }
})

test('openid-client understands the refusals', async () => {
  const { scope } = await sandbox.credentials()
  const right = await discovered(ClientSecretPost(sandbox.tenants[0]!.client_secret))
  const wrong = await discovered(ClientSecretPost('wrong'))
  const refused = { status: 401, error: 'invalid_client' }
  await expect(clientCredentialsGrant(wrong, { scope })).rejects.toMatchObject(refused)
  const scoped = clientCredentialsGrant(right, { scope: 'openid' })
  await expect(scoped).rejects.toBeInstanceOf(ResponseBodyError)
  await expect(scoped).rejects.toMatchObject({ status: 400, error: 'invalid_scope' })
})
