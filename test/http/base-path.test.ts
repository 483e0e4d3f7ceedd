import { afterAll, beforeAll, expect, test } from 'vitest'
import { banner } from '../../src/cli/start-command.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let origin: string
beforeAll(async () => {
  sandbox = await sandboxWith((fixture) => {
    fixture.service = { base_path: '/partners/api' }
  })
  acme = new Partner(sandbox)
  origin = new URL(sandbox.baseUrl).origin
})
afterAll(() => sandbox.stop())

const statusAt = async (url: string, method = 'GET') => (await fetch(url, { method })).status

test('the service is behind the base path, and nowhere else', async () => {
  expect(sandbox.baseUrl).toBe(`${origin}/partners/api`)
  expect(outcome(await acme.get('pools'))).toBe('200')
  const headers = { authorization: `Bearer ${await acme.idpToken()}` }
  for (const path of ['/v1/partner/pools', '/api/v1/partner/pools', '/partners/v1/partner/pools', '/partners/api']) {
    expect([path, (await fetch(`${origin}${path}`, { headers })).status]).toEqual([path, 404])
  }
})

test('what is beside the service stays at the origin', async () => {
  const credentials = await sandbox.credentials()
  expect(credentials).toMatchObject({
    base_url: `${origin}/partners/api`,
    auth_url: `${origin}/oauth2/token`,
    control_url: `${origin}/_sandbox`,
    rpc_urls: { 31337: `${origin}/rpc/31337` },
  })
  expect(await statusAt(`${origin}/_sandbox/health`)).toBe(200)
  expect(await statusAt(`${origin}/.well-known/openid-configuration`)).toBe(200)
  expect(await statusAt(`${sandbox.baseUrl}/_sandbox/health`)).toBe(404)
  const text = banner(credentials)
  expect(text).toContain(`${origin}/docs`)
  expect(text).toContain(`${origin}/partners/api/v1/partner/pools`)
})

test('an error names the whole path; HEAD, 404 and 405 are as without', async () => {
  const { body } = await acme.get('pools?limit=0')
  expect(body.instance).toBe('/partners/api/v1/partner/pools')
  const other = await fetch(`${sandbox.baseUrl}/v1/partner/pools`, { method: 'DELETE' })
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect(await statusAt(`${sandbox.baseUrl}/v1/partner/pools`, 'HEAD')).toBe(401)
  expect(await statusAt(`${sandbox.baseUrl}/v1/partner/nothing`)).toBe(404)
})

test('the description has the paths of the specification, under the base path', async () => {
  const { servers, paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as {
    servers: { url: string }[]
    paths: Record<string, { servers?: { url: string }[] }>
  }
  expect(servers[0]!.url).toBe(`${origin}/partners/api`)
  expect(paths['/v1/partner/pools']).not.toHaveProperty('servers')
  expect(paths['/oauth2/token']!.servers).toMatchObject([{ url: origin }])
})
