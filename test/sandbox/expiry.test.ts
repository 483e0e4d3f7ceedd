import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner } from '../helpers/partner.ts'
import { send } from '../http/raw-http.ts'

const TOKEN = 'correct-horse-battery'
const GONE = /was deleted because nobody had used it for 4s/

let sandbox: SandboxHandle
let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'yield-expiry-'))
  const given = { port: 0, confirmationDelay: 0, controlToken: TOKEN, dataDir }
  sandbox = await startSandbox({ ...given, namespaceExpiry: '4s' })
})
afterAll(async () => {
  await sandbox.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const isThere = async ({ namespace }: SandboxHandle) =>
  (await sandbox.namespaces.list()).some(({ name }) => name === namespace)
const gone = (one: SandboxHandle) =>
  eventually(async () => {
    expect(await isThere(one)).toBe(false)
    expect((await readdir(join(dataDir, 'namespaces'))).some((life) => life.startsWith(`${one.namespace}.`))).toBe(
      false,
    )
  })

test('a namespace that nobody uses is deleted with its files, and whoever comes later is told why', async () => {
  const mine = await sandbox.namespaces.create({ name: 'left-behind' })
  const partner = new Partner(mine)
  expect((await partner.get('pools')).status).toBe(200)
  const { control_token = '', rpc_urls, auth_url, scope, tenants } = await mine.credentials()
  await gone(mine)
  const path = '/_sandbox/namespaces/left-behind/clock'
  for (const token of [TOKEN, control_token]) {
    const answer = await send(sandbox.baseUrl, { path, headers: bearer(token) })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      404,
      expect.objectContaining({ code: 'namespace_not_found', detail: expect.stringMatching(GONE) }),
    ])
  }
  const pools = await partner.get('pools')
  expect(pools).toMatchObject({ status: 401, body: { code: 'unknown_partner', detail: expect.stringMatching(GONE) } })
  const { client_id, client_secret } = tenants[0]!
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
  const token = await fetch(auth_url, { method: 'POST', body: form })
  expect([token.status, await token.json()]).toEqual([
    401,
    { error: 'invalid_client', error_description: expect.stringMatching(GONE) },
  ])
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const rpc = await fetch(Object.values(rpc_urls)[0]!, call)
  expect([rpc.status, await rpc.text()]).toEqual([404, expect.stringMatching(GONE)])
  // Another one of that name is another one, which the old token does not open.
  await using again = await sandbox.namespaces.create({ name: 'left-behind' })
  expect((await send(sandbox.baseUrl, { path, headers: bearer(control_token) })).status).toBe(401)
  expect((await again.clock.state()).frozen).toBe(false)
})

test('one whose events somebody follows, or that is held, stays as long as they do; default stays for ever', async () => {
  const followed = await sandbox.namespaces.create()
  const over = new AbortController()
  const { control_url, control_token = '' } = await followed.credentials()
  await fetch(`${control_url}/events`, { headers: bearer(control_token), signal: over.signal })
  const held = await sandbox.namespaces.create()
  const partner = new Partner(held)
  await partner.idpToken()
  await held.faults.add({ kind: 'hang', match: { operation: 'list_pools' } })
  const waiting = partner.get('pools', { signal: over.signal }).catch(() => undefined)
  await eventually(async () => expect((await held.faults.list())[0]).toMatchObject({ hits: 1 }))
  // Two that come after them go before them.
  for (const _ of [1, 2]) await gone(await sandbox.namespaces.create())
  expect([await isThere(followed), await isThere(held)]).toEqual([true, true])
  over.abort()
  await waiting
  await gone(followed)
  await gone(held)
  expect((await sandbox.clock.state()).frozen).toBe(false)
})
