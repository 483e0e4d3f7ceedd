import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { concludeRun } from '../../src/sandbox/conclusion.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { eventually } from '../helpers/eventually.ts'

let host: Sandbox
let outer: ControlClient
beforeAll(async () => {
  host = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  await host.ready
  outer = new ControlClient(host.baseUrl)
})
afterAll(() => host.stop())

async function guest(pid = process.pid) {
  const made = await outer.createGuest({ pid })
  return { ...made, client: new ControlClient(new URL(made.credentials.control_url).origin) }
}

function tokenRequest(auth_url: string, client_id: string, client_secret: string): Promise<Response> {
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'api://yield-sandbox/.default' }
  return fetch(auth_url, { method: 'POST', body: new URLSearchParams(form) })
}

test('a guest has its own port, the fixture’s clients, and what comes there is its alone', async () => {
  const [own, { credentials, client }] = [await outer.credentials(), await guest()]
  expect(credentials.base_url).not.toBe(own.base_url)
  expect(credentials.tenants).toEqual(own.tenants)
  const [{ client_id, client_secret } = { client_id: '', client_secret: '' }] = credentials.tenants
  expect((await tokenRequest(credentials.auth_url, client_id, client_secret)).status).toBe(200)
  expect((await tokenRequest(credentials.auth_url, 'somebody', 'else')).status).toBe(401)
  const { evidence, other_namespaces } = await client.conclude('well')
  expect(evidence.exchanges.map(({ request }) => request.client_id)).toEqual([
    client_id,
    expect.stringContaining('hidden'),
  ])
  expect(other_namespaces).toBe(0)
  expect((await outer.namespaces()).map(({ requests }) => requests)).toEqual([0])
  await client.stop()
})

test('evidence is the same over the network as in the process', async () => {
  const [tenant] = (await outer.credentials()).tenants
  await tokenRequest(`${host.baseUrl}/oauth2/token`, tenant?.client_id ?? '', tenant?.client_secret ?? '')
  const here = await concludeRun(host.namespace, 'well')
  const there = await outer.conclude('well')
  expect({ ...there.evidence, now: 0 }).toEqual({ ...here.evidence, now: 0 })
  expect(here.evidence.exchanges).toHaveLength(1)
})

test('a guest ends with its process, its own stop and its host', async () => {
  const gone = await guest(2 ** 22 + 1)
  await eventually(async () => expect(await gone.client.answers()).toBe(false))
  const stopped = await guest()
  await stopped.client.stop()
  expect(await outer.answers()).toBe(true)
  const other = await Sandbox.listen({ port: 0 })
  await other.ready
  const { credentials } = await other.createGuest({ pid: process.pid })
  await other.stop()
  expect(await new ControlClient(new URL(credentials.control_url).origin).answers()).toBe(false)
})

test('a runner’s own requests do not count as the client’s', async () => {
  const { client, credentials } = await guest()
  const url = new URL(credentials.control_url).origin
  const clear = (headers: Record<string, string>) => fetch(`${url}/_sandbox/faults`, { method: 'DELETE', headers })
  await clear({ 'x-sandbox-runner': '1' })
  expect((await client.conclude('well')).evidence.taken_away.clearings).toBe(0)
  await clear({})
  expect((await client.conclude('well')).evidence.taken_away.clearings).toBe(1)
  await client.stop()
})
