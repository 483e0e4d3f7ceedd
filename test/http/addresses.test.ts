import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Credentials, type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { send } from './raw-http.ts'

const NAMES = ['127.0.0.1', 'localhost', '[::1]']
const PUBLIC = 'https://sandbox.acme.test:8443'

const portOf = ({ baseUrl }: SandboxHandle) => Number(new URL(baseUrl).port)

/** Every URL the sandbox tells, asked for under that Host. */
async function told({ port, token }: { port: number; token?: string }, host: string): Promise<string[]> {
  const headers = { host, ...(token && { authorization: `Bearer ${token}` }) }
  const read = async (path: string) => JSON.parse((await send(`http://127.0.0.1:${port}`, { path, headers })).text)
  const credentials: Credentials = await read('/_sandbox/credentials')
  const { issuer, token_endpoint, authorization_endpoint, jwks_uri } = await read('/.well-known/openid-configuration')
  const { servers } = await read('/openapi.json')
  const { base_url, auth_url, control_url, rpc_urls } = credentials
  return [base_url, auth_url, control_url, ...Object.values(rpc_urls)].concat(
    [issuer, token_endpoint, authorization_endpoint, jwks_uri],
    servers.map(({ url }: { url: string }) => url),
  )
}

describe('by default', () => {
  let sandbox: SandboxHandle
  beforeAll(async () => {
    sandbox = await testSandbox()
  })
  afterAll(() => sandbox.stop())

  test.each(NAMES)('it answers at %s', async (name) => {
    const url = `http://${name}:${portOf(sandbox)}`
    expect((await fetch(`${url}/_sandbox/ready`)).status).toBe(200)
    const { servers } = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] }
    expect(servers).toMatchObject([{ url }])
  })

  test('a partner works under each name of loopback', async () => {
    for (const name of NAMES) {
      const baseUrl = sandbox.baseUrl.replace('127.0.0.1', name)
      const handle = { ...sandbox, baseUrl, authUrl: `${baseUrl}/oauth2/token` } as SandboxHandle
      const user = `user-${NAMES.indexOf(name)}`
      const partner = new Partner(handle)
      expect((await partner.deposit(user, await partner.open(user), '1000')).status).toBe(200)
    }
  })

  test('no URL follows the Host header', async () => {
    const port = portOf(sandbox)
    for (const url of await told({ port }, `127.0.0.2:${port}`)) expect(url).toContain(`http://127.0.0.1:${port}`)
  })

  test('a page of its own may use the control interface and the RPC under each name; no other may', async () => {
    const allowed = NAMES.map((name) => `http://${name}:${portOf(sandbox)}`)
    for (const [origin, status] of [...allowed.map((url) => [url, 200]), ['http://localhost:3000', 403]] as const) {
      const { headers } = { headers: { origin: String(origin) } }
      expect((await fetch(`${sandbox.controlUrl}/clock`, { headers })).status).toBe(status)
    }
  })

  test('a port that is taken on IPv6 alone is told', async () => {
    const other = createServer().listen(0, '::1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    try {
      const failure = { code: 'EADDRINUSE', address: '::1', port }
      await expect(startSandbox({ port })).rejects.toMatchObject(failure)
      // Nothing of it is left on IPv4.
      await using there = await startSandbox({ port, host: '127.0.0.1' })
      expect(there.baseUrl).toBe(`http://127.0.0.1:${port}`)
    } finally {
      other.close()
    }
  })
})

describe('with a public URL', () => {
  let sandbox: SandboxHandle
  let port: number
  beforeAll(async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    port = (taken.address() as { port: number }).port
    taken.close()
    await once(taken, 'close')
    sandbox = await testSandbox({ port, publicUrl: `${PUBLIC}/`, controlToken: 'correct-horse' })
  })
  afterAll(() => sandbox.stop())

  test('every URL is made from it, whatever the Host', async () => {
    expect(sandbox.baseUrl).toBe(PUBLIC)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'sandbox.acme.test:8443', 'evil.example']) {
      for (const url of await told({ port, token: 'correct-horse' }, host)) expect(url.startsWith(PUBLIC)).toBe(true)
    }
  })

  test('tokens are its own, and those of the address listened on are not', async () => {
    const local = `http://127.0.0.1:${port}`
    const { client_id, client_secret } = sandbox.tenants[0]!
    const { scope } = await sandbox.credentials()
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    const { access_token } = (await (await fetch(`${local}/oauth2/token`, { method: 'POST', body: form })).json()) as {
      access_token: string
    }
    expect(JSON.parse(Buffer.from(access_token.split('.')[1]!, 'base64url').toString())).toMatchObject({ iss: PUBLIC })
    const pools = (token: string) =>
      fetch(`${local}/v1/partner/pools`, { headers: { authorization: `Bearer ${token}` } })
    expect((await pools(access_token)).status).toBe(200)
    const minted = await fetch(`${local}/_sandbox/tenants/acme/idp_tokens`, {
      method: 'POST',
      headers: { authorization: 'Bearer correct-horse', 'content-type': 'application/json' },
      body: JSON.stringify({ claims: { iss: local } }),
    })
    const { token } = (await minted.json()) as { token: string }
    expect((await pools(token)).status).toBe(401)
  })

  test('its own pages may use the control interface behind a proxy that ends TLS', async () => {
    const status = async (origin: string) => {
      const headers = { authorization: 'Bearer correct-horse', host: 'sandbox.acme.test:8443', origin }
      return (await send(`http://127.0.0.1:${port}`, { path: '/_sandbox/clock', headers })).status
    }
    expect([await status(PUBLIC), await status('https://evil.example')]).toEqual([200, 403])
  })

  test("the library's chain does not depend on it", async () => {
    expect(await sandbox.chain.getChainId()).toBe(31337)
    expect(sandbox.chain.transport.url).toMatch(/^https:\/\/sandbox\.acme\.test:8443\/rpc\/31337\?key=[\w-]{22}$/)
  })

  test('that others can reach makes a control token needed', async () => {
    await using open = await startSandbox({ port: 0, publicUrl: 'http://localhost:8080' })
    expect((await open.credentials()).control_token).toBeUndefined()
    await using exposed = await startSandbox({ port: 0, publicUrl: PUBLIC })
    expect((await exposed.credentials()).control_token).toMatch(/^[\w-]{32}$/)
  })
})

test.each([
  ['ftp://sandbox.acme.test', /must be an http or https URL/],
  ['sandbox.acme.test', /must be an http or https URL/],
  ['http://', /must be an http or https URL/],
  ['http://sandbox acme', /must be an http or https URL/],
  ['http://sandbox.acme.test/api', /must not have a path/],
  ['http://alice:hush@sandbox.acme.test', /must not have credentials/],
  ['http://sandbox.acme.test?x=1', /must not have a query/],
  ['http://sandbox.acme.test/?', /must not have a query/],
  ['http://sandbox.acme.test#top', /must not have a fragment/],
])('--public-url %s is refused, with what to do', async (publicUrl, message) => {
  const refused = startSandbox({ port: 0, publicUrl })
  await expect(refused).rejects.toThrow(message)
  await expect(refused).rejects.toThrow('publicUrl')
  await expect(refused).rejects.not.toThrow('hush')
})
