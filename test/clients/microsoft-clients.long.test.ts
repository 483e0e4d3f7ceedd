import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { ROOT } from '../cli/command.ts'
import { testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox({ tls: 'self-signed' })
})
afterAll(() => sandbox.stop())

/** What a partner's application does with @azure/msal-node, the authority being the sandbox. */
const APPLICATION = `
import { ConfidentialClientApplication, ProtocolMode } from '@azure/msal-node'
const { BASE, AUTHORITY, HOST, CLIENT_ID, CLIENT_SECRET, SCOPE, PROTOCOL } = process.env
const auth = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, authority: AUTHORITY, knownAuthorities: [HOST] }
const system = PROTOCOL ? { system: { protocolMode: ProtocolMode[PROTOCOL] } } : {}
const client = new ConfidentialClientApplication({ auth: { ...auth, ...system.system }, ...system })
const first = await client.acquireTokenByClientCredential({ scopes: [SCOPE] }).catch((error) => {
  console.log(JSON.stringify({ code: error.errorCode, message: error.errorMessage }))
  process.exit()
})
const again = await client.acquireTokenByClientCredential({ scopes: [SCOPE] })
const headers = { authorization: 'Bearer ' + first.accessToken }
const { status } = await fetch(BASE + '/v1/partner/pools', { headers })
const { iss, tid } = JSON.parse(Buffer.from(first.accessToken.split('.')[1], 'base64url'))
console.log(JSON.stringify({ status, iss, tid, cached: again.fromCache, type: first.tokenType }))`

async function msal(name: string, path: string, more: Record<string, string> = {}, of = sandbox) {
  const { scope, ca_file = '', tenants } = await of.credentials()
  const base = of.baseUrl.replace('127.0.0.1', name)
  const env = {
    PATH: process.env.PATH,
    NODE_EXTRA_CA_CERTS: ca_file,
    BASE: base,
    AUTHORITY: `${new URL(base).origin}/${path}`,
    HOST: new URL(base).host,
    CLIENT_ID: tenants[0]!.client_id,
    CLIENT_SECRET: tenants[0]!.client_secret,
    SCOPE: scope,
    ...more,
  }
  const args = ['--input-type=module', '-e', APPLICATION]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })
  return { base, ...JSON.parse(stdout) }
}

const tenantId = () => sandbox.tenants[0]!.tenant_id

test.each(['localhost', '127.0.0.1'])(
  'msal-node obtains a token from the authority of its tenant at %s',
  async (name) => {
    const { base, ...seen } = await msal(name, tenantId())
    expect(seen).toEqual({
      status: 200,
      iss: `${base}/${tenantId()}/v2.0`,
      tid: tenantId(),
      cached: true,
      type: 'Bearer',
    })
  },
)

test('in live-like, the directory of a tenant is a UUID, and its tenant id is known as well', async () => {
  const fixtures = join(ROOT, 'fixtures', 'live-like.yaml')
  await using liveLike = await testSandbox({ tls: 'self-signed', fixtures })
  const { tenant_id, directory_id } = liveLike.tenants[0]!
  // Made of the tenant id alone, so that it can stand in a configuration. @azure/identity takes no tenant with an underscore.
  expect(directory_id).toBe('81c38f4c-8fc2-5f93-a04a-4c75df1b5686')
  expect(directory_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const { base: at, ...known } = await msal('localhost', directory_id, {}, liveLike)
  expect(known).toEqual({
    ...{ status: 200, iss: `${new URL(at).origin}/${directory_id}/v2.0`, tid: directory_id },
    ...{ cached: true, type: 'Bearer' },
  })
  // msal-node writes an authority in lower case.
  expect(tenant_id).not.toBe(tenant_id.toLowerCase())
  const { base, ...seen } = await msal('localhost', tenant_id, {}, liveLike)
  expect(seen).toEqual({
    ...{ status: 200, iss: `${new URL(base).origin}/${tenant_id}/v2.0`, tid: tenant_id },
    ...{ cached: true, type: 'Bearer' },
  })
})

test('msal-node tells a wrong secret in the words of the token endpoint', async () => {
  const { code, message } = await msal('localhost', tenantId(), { CLIENT_SECRET: 'wrong' })
  expect({ code, message }).toEqual({ code: 'invalid_client', message: expect.stringContaining('its secret is wrong') })
})

test('msal-node finds no authority for a tenant that is not there', async () => {
  const { code } = await msal('localhost', '99999999-9999-4999-8999-999999999999')
  expect(code).toBe('endpoints_resolution_error')
})

test('msal-node takes the sandbox itself for an OpenID provider', async () => {
  const { base, ...seen } = await msal('localhost', '', { PROTOCOL: 'OIDC' })
  expect(seen).toMatchObject({ status: 200, iss: base, cached: true })
})
