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
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
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
