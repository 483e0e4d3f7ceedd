import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials, GuestWish } from '../../src/control/contract.ts'
import { concludeRun } from '../../src/sandbox/conclusion.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { sendBytes } from '../http/raw-http.ts'

let around: Sandbox
let outer: ControlClient
beforeAll(async () => {
  around = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  await around.ready
  outer = new ControlClient(around.baseUrl)
})
afterAll(() => around.stop())

async function guest(wish: Partial<GuestWish> = {}, within = outer) {
  const { credentials } = await within.createGuest({ pid: process.pid, ...wish })
  return placeOf(credentials)
}

function placeOf(credentials: Credentials) {
  const { origin } = new URL(credentials.control_url)
  return { credentials, origin, client: new ControlClient(origin), acme: partnerAt(credentials) }
}

type Place = ReturnType<typeof placeOf>

/** The host and two guests. */
async function threePlaces(): Promise<[Place, Place, Place]> {
  return [placeOf(await outer.credentials()), await guest(), await guest()]
}

async function jsonAt(url: string): Promise<Record<string, unknown>> {
  return (await fetch(url)).json() as Promise<Record<string, unknown>>
}

/** Result of a method of the JSON-RPC of the place's chain. */
async function rpc({ credentials: { rpc_urls } }: Place, method: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${rpc_urls['31337']}`, { method: 'POST', headers, body })
  return ((await answer.json()) as { result: unknown }).result
}

/** Number of the latest block, asked so that none is mined before if a second has passed. */
async function heightOf(place: Place): Promise<number> {
  const { currentBlockNumber } = Object(await rpc(place, 'anvil_nodeInfo')) as { currentBlockNumber: unknown }
  return Number(currentBlockNumber)
}

/** Status of the answer to a list of pools with this token. */
async function statusWith(token: string, { credentials: { base_url } }: Place): Promise<number> {
  return (await fetch(`${base_url}/v1/partner/pools`, { headers: { authorization: `Bearer ${token}` } })).status
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
  await tokenRequest(`${around.baseUrl}/oauth2/token`, tenant?.client_id ?? '', tenant?.client_secret ?? '')
  const here = await concludeRun(around.namespace, 'well')
  const there = await outer.conclude('well')
  expect({ ...there.evidence, now: 0 }).toEqual({ ...here.evidence, now: 0 })
  expect(here.evidence.exchanges).toHaveLength(1)
})

test('a guest ends with its process and by its own stop', async () => {
  const gone = await guest({ pid: 2 ** 22 + 1 })
  await eventually(async () => expect(await gone.client.answers()).toBe(false))
  const stopped = await guest()
  await stopped.client.stop()
  expect(await outer.answers()).toBe(true)
})

test('a runner’s own requests do not count as the client’s', async () => {
  const { client, origin } = await guest()
  const clear = (headers: Record<string, string>) => fetch(`${origin}/_sandbox/faults`, { method: 'DELETE', headers })
  await clear({ 'x-sandbox-runner': '1' })
  expect((await client.conclude('well')).evidence.taken_away.clearings).toBe(0)
  await clear({})
  expect((await client.conclude('well')).evidence.taken_away.clearings).toBe(1)
  await client.stop()
})

test('host and guests have an address, an issuer and an instance each, and no other’s token is good', async () => {
  const all = await threePlaces()
  for (const { origin, credentials } of all) {
    const { issuer, token_endpoint } = await jsonAt(`${origin}/.well-known/openid-configuration`)
    expect([issuer, token_endpoint]).toEqual([origin, `${origin}/oauth2/token`])
    const tenant = `${origin}/${credentials.tenants[0]?.tenant_id}/v2.0`
    expect(await jsonAt(`${tenant}/.well-known/openid-configuration`)).toMatchObject({ issuer: `${tenant}` })
    expect(await jsonAt(`${origin}/openapi.json`)).toMatchObject({ servers: [{ url: origin }] })
  }
  const instances = await Promise.all(all.map(async ({ client }) => (await client.health()).instance))
  expect(new Set(instances).size).toBe(3)
  for (const [own, { acme }] of all.entries()) {
    const token = await acme.idpToken()
    const statuses = await Promise.all(all.map((place) => statusWith(token, place)))
    expect(statuses).toEqual([0, 1, 2].map((i) => (i === own ? 200 : 401)))
  }
  const [host, one, two] = all
  await one.client.announce('http://localhost:4711')
  const addresses = await Promise.all([host, one, two].map(async ({ client }) => (await client.credentials()).base_url))
  expect(addresses).toEqual([host.origin, 'http://localhost:4711', two.origin])
  await Promise.all(all.slice(1).map(({ client }) => client.stop()))
})

test('faults, records, namespaces and what is used are those of the guest alone', async () => {
  const [host, one, two] = await threePlaces()
  await outer.clearRequests()
  const [fault] = await one.client.addFaults([
    { kind: 'error', match: { operation: 'list_pools' }, with: { status: 502 } },
  ])
  const tenant = {
    slug: 'acme',
    tenant_id: '0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a77',
    client_id: '5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e77',
    client_secret: 'acme-demo-secret',
    issuer: 'https://acme.example',
    key: { kid: 'acme-1', private_key_file: 'demo-keys/acme.pem' },
    access: 'all',
    end_users: [],
  }
  const inner = placeOf(await one.client.createNamespace({ name: 'inner', fixtures: { tenants: [tenant] } }))
  expect((await one.acme.get('pools')).status).toBe(502)
  expect((await two.acme.get('pools')).status).toBe(200)
  expect((await inner.acme.get('pools')).status).toBe(200)
  expect(await one.client.faults()).toMatchObject([{ id: fault?.id, hits: 1 }])
  expect([await outer.faults(), await two.client.faults()]).toEqual([[], []])
  const listed = await Promise.all([outer, one.client, two.client].map((client) => client.namespaces()))
  expect(listed.map((names) => names.map(({ name, requests }) => [name, requests]))).toEqual([
    [['default', 0]],
    [
      ['default', 2],
      ['inner', 2],
    ],
    [['default', 2]],
  ])
  const [height, , grown] = [await heightOf(one), await rpc(one, 'evm_mine'), await heightOf(one)]
  expect(grown).toBe(height + 1)
  expect([await heightOf(host), await heightOf(two)]).toEqual([height, height])
  expect((await fetch(`${two.origin}/_sandbox/namespaces/inner/requests`)).status).toBe(404)
  const known = [host, one, two].map(({ origin }) =>
    fetch(`${origin}/${tenant.tenant_id}/v2.0/.well-known/openid-configuration`),
  )
  expect((await Promise.all(known)).map(({ status }) => status)).toEqual([404, 200, 404])
  expect((await two.client.usage()).requests.total).toBe(2)
  const [{ client_id, client_secret } = { client_id: '', client_secret: '' }] = inner.credentials.tenants
  expect((await tokenRequest(two.credentials.auth_url, client_id, client_secret)).status).toBe(401)
  await Promise.all([one.client.stop(), two.client.stop()])
})

test('ids of a guest do not depend on what is asked elsewhere', async () => {
  const wish = { seed: 7, clock: '2030-01-01T00:00:00Z' }
  const idsAt = async ({ acme, origin }: Place) => {
    const pools = await acme.get('pools')
    const health = await fetch(`${origin}/_sandbox/health`)
    const malformed = await sendBytes(origin, 'nonsense\r\n\r\n')
    const name = 'x-service-request-id'
    return [pools.headers.get(name), health.headers.get(name), malformed.headers[name]]
  }
  const first = await guest(wish)
  const alone = await idsAt(first)
  expect(alone).toEqual([1, 2, 3].map(() => expect.stringMatching(/^req_/)))
  expect(new Set(alone).size).toBe(3)
  const second = await guest(wish)
  await Promise.all([idsAt(placeOf(await outer.credentials())), idsAt(first)])
  expect(await idsAt(second)).toEqual(alone)
  await Promise.all([first.client.stop(), second.client.stop()])
})

test('the end of a guest closes its WebSockets, and leaves what others wait for', async () => {
  const all = await threePlaces()
  const [, one, two] = all
  const sockets = all.map(({ credentials }) => new WebSocket(`${credentials.rpc_urls['31337']}`.replace('http', 'ws')))
  await Promise.all(sockets.map((socket) => once(socket, 'open')))
  const [, ofOne, ofTwo] = sockets
  const [waiting, closed] = [two.client.nextRequest({ wait_ms: 20_000 }), once(ofOne as WebSocket, 'close')]
  await one.client.stop()
  expect((await closed)[0]).toBe(1001)
  for (const socket of sockets) {
    if (socket === ofOne) continue
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }))
    const [answer] = await once(socket, 'message')
    expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: '0x7a69' })
  }
  await two.acme.get('pools')
  expect((await waiting).data).not.toBeNull()
  sockets[0]?.close()
  await two.client.stop()
  expect((await once(ofTwo as WebSocket, 'close'))[0]).toBe(1001)
})

test('a guest has no control token, whatever its host has; its pages are its own, and it ends with its host', async () => {
  const other = await Sandbox.listen({ port: 0, controlToken: 'secret' })
  onTestFinished(() => other.stop())
  await other.ready
  const { origin, acme, client } = placeOf((await other.createGuest({ pid: process.pid })).credentials)
  const [atHost, atGuest] = [`${other.baseUrl}/_sandbox/requests`, `${origin}/_sandbox/requests`]
  expect([(await fetch(atHost)).status, (await fetch(atGuest)).status]).toEqual([401, 200])
  const statusFor = async (page: string) => (await fetch(atGuest, { headers: { origin: page } })).status
  expect([await statusFor(origin), await statusFor(other.baseUrl)]).toEqual([200, 403])
  const struck = await acme.get('pools', { headers: { 'x-sandbox-fault': 'error; status=503' } })
  expect(struck.status).toBe(503)
  expect(await client.answers()).toBe(true)
  await other.stop()
  expect(await client.answers()).toBe(false)
})

test('a guest has tools for agents, and guests of its own, which end with it', async () => {
  const one = await guest()
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'connect', arguments: {} } }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${one.origin}/_sandbox/mcp`, { method: 'POST', headers, body: JSON.stringify(call) })
  expect(await answer.text()).toContain(`YIELD_BASE_URL=${one.credentials.base_url}`)
  const inner = await guest({}, one.client)
  expect((await inner.acme.get('pools')).status).toBe(200)
  expect((await one.client.namespaces()).map(({ requests }) => requests)).toEqual([0])
  await one.client.stop()
  await eventually(async () => expect(await inner.client.answers()).toBe(false))
})
