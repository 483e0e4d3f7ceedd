import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { connectSandbox, type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'
import { DescribedAnswers, type OpenApiDocument } from '../http/described-answers.ts'
import { expectRefusal, send } from '../http/raw-http.ts'

const TOKEN = 'correct-horse-battery'
/** They answer when something happens. */
const WAITING = ['namespace_get_events', 'namespace_next_request']
const JSON_TYPE = { 'content-type': 'application/json' }

let log = ''
const stream = new Writable({
  write(chunk, _encoding, done) {
    log += chunk
    done()
  },
})
const logger = pino({ level: 'trace' }, stream)

let sandbox: SandboxHandle
let url: string
/** Every route that the control interface has by its description, but those that nobody needs a token for. */
let routes: { id: string; method: string; target: string; hasBody: boolean }[]
beforeAll(async () => {
  // With the address, others than this machine could reach it: sending by JSON-RPC then needs its key.
  sandbox = await startSandbox({ port: 0, host: '127.0.0.1', confirmationDelay: 0, controlToken: TOKEN, logger })
  url = sandbox.baseUrl
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  routes = new DescribedAnswers(document).operations().flatMap(({ method, target, operation }) => {
    const guarded = operation.security.some((one) => 'control_token' in one)
    const route = { id: operation.operationId, method: method.toUpperCase(), target }
    return guarded ? [{ ...route, hasBody: operation.requestBody !== undefined }] : []
  })
})
afterAll(() => sandbox.stop())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Asks a route with a token, of a namespace if it is one of a namespace's; with no body that it would take. */
function ask({ method, target }: (typeof routes)[number], namespace: string, headers: Record<string, string>) {
  const path = target.replace('{namespace}', namespace).replace(/\{\w+\}/g, 'nothing')
  const body = method === 'GET' || method === 'DELETE' ? undefined : '{"unknown":1}'
  return send(url, { method, path, headers: { ...headers, ...(body && JSON_TYPE) }, ...(body && { body }) })
}

async function made(name?: string) {
  const client = new ControlClient(url, { controlToken: TOKEN })
  const { control_token: token = '', ...rest } = await client.createNamespace(name === undefined ? {} : { name })
  return { ...rest, token, name: rest.namespace }
}

const isAbout = ({ target }: (typeof routes)[number]) => target.includes('{namespace}')

describe('the control token of a namespace', () => {
  test('is another than the sandbox has, and is given out when the namespace is made and by its credentials', async () => {
    const [a, b] = [await made('acme-team'), await made()]
    expect(a.token).toMatch(/^acme-team\.[\w-]{22}$/)
    expect(b.token).toMatch(new RegExp(`^${b.name}\\.[\\w-]{22}$`))
    for (const token of [TOKEN, a.token]) {
      const { text } = await send(url, { path: `/_sandbox/namespaces/${a.name}/credentials`, headers: bearer(token) })
      expect(JSON.parse(text).control_token).toBe(a.token)
      expect(text).not.toContain(TOKEN)
    }
    const { text } = await send(url, { path: '/_sandbox/credentials', headers: bearer(TOKEN) })
    expect(JSON.parse(text).control_token).toBe(TOKEN)
  })

  test('opens every route of its namespace, and no other: not of the sandbox, of default, of another namespace', async () => {
    const [mine, other] = [await made(), await made()]
    expect(routes.length).toBeGreaterThan(60)
    // The one that deletes comes last.
    const ordered = [...routes].sort(
      (a, b) => Number(a.id === 'delete_namespace') - Number(b.id === 'delete_namespace'),
    )
    for (const route of ordered) {
      const { id } = route
      for (const namespace of isAbout(route) ? [other.name, 'default', 'nobody'] : [mine.name]) {
        const answer = await ask(route, namespace, bearer(mine.token))
        expect([id, namespace, answer.status]).toEqual([id, namespace, 403])
        expectRefusal(answer, { status: 403, code: 'control_forbidden', param: 'Authorization' })
        expect(answer.text).toContain(`of the namespace \\"${mine.name}\\"`)
      }
      if (!isAbout(route) || WAITING.includes(id)) continue
      const { status } = await ask(route, mine.name, bearer(mine.token))
      expect([id, [401, 403].includes(status)]).toEqual([id, false])
    }
    await expect(new ControlClient(url, { controlToken: TOKEN }).in(mine.name).readiness()).rejects.toThrow(
      /no namespace/,
    )
    expect(await new ControlClient(url, { controlToken: TOKEN }).in(other.name).readiness()).toEqual({ ready: true })
  })

  test('is refused with 401 when it is unknown, spoilt, or of a namespace that is gone, also of one of the same name', async () => {
    const mine = await made('short-lived')
    const stolen = [
      '',
      '.',
      mine.name,
      `${mine.name}.`,
      mine.token.slice(0, -1),
      `${mine.token}x`,
      mine.token.replace('short-lived', 'default'),
      `default.${mine.token.split('.')[1]}`,
      `nobody.${mine.token.split('.')[1]}`,
    ]
    const credentials = { path: `/_sandbox/namespaces/${mine.name}/credentials` }
    const refused = { status: 401, code: 'control_token_required', param: 'Authorization' }
    for (const token of stolen) expectRefusal(await send(url, { ...credentials, headers: bearer(token) }), refused)
    expectRefusal(await send(url, credentials), refused)
    const session = await signedIn(mine.token)
    expect((await send(url, { ...credentials, headers: session })).status).toBe(200)
    await new ControlClient(url, { controlToken: mine.token }).deleteNamespace(mine.name)
    expectRefusal(await send(url, { ...credentials, headers: bearer(mine.token) }), refused)
    const next = await made('short-lived')
    expect(next.token).not.toBe(mine.token)
    for (const headers of [bearer(mine.token), session]) {
      expectRefusal(await send(url, { ...credentials, headers }), refused)
    }
  })

  test('begins a session of the inspector that opens that namespace alone', async () => {
    const [mine, other] = [await made(), await made()]
    const session = await signedIn(mine.token)
    for (const route of routes) {
      const { id } = route
      if (id === 'delete_namespace' || WAITING.includes(id)) continue
      if (isAbout(route)) {
        const { status } = await ask(route, mine.name, session)
        expect([id, [401, 403].includes(status)]).toEqual([id, false])
      }
      const answer = await ask(route, other.name, session)
      expect([id, answer.status]).toEqual([id, 403])
    }
  })

  test('brings faults along in its namespace alone', async () => {
    const [mine, other] = [await handle(), await handle()]
    const token = (await mine.credentials()).control_token!
    const headers = { 'x-sandbox-fault': 'error; code=rate_limited', 'x-sandbox-control-token': token }
    expect((await new Partner(mine).get('pools', { headers })).status).toBe(429)
    const refused = await new Partner(other).get('pools', { headers })
    expect(refused).toMatchObject({ status: 401, body: { code: 'control_token_required' } })
  })

  test('mints no token for the client of another namespace, and every bad one for its own', async () => {
    const [mine, other] = [await made(), await made()]
    const mint = (appid: string, token = mine.token) =>
      send(url, {
        ...{ method: 'POST', path: `/_sandbox/namespaces/${mine.name}/tenants/acme/idp_tokens` },
        ...{ headers: { ...bearer(token), ...JSON_TYPE }, body: JSON.stringify({ claims: { appid } }) },
      })
    for (const { client_id } of [other.tenants[0]!, sandbox.tenants[0]!]) {
      expectRefusal(await mint(client_id), { status: 403, code: 'control_forbidden', param: 'claims.appid' })
      expect((await mint(client_id, TOKEN)).status).toBe(201)
    }
    for (const own of [mine.tenants[0]!.client_id, 'nobody']) expect((await mint(own)).status).toBe(201)
  })

  test('lets tools of an agent do no more than itself', async () => {
    const mine = await made()
    const call = async (token: string, name: string, given = {}) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
      const path = `/_sandbox/namespaces/${mine.name}/mcp`
      const headers = { ...bearer(token), ...JSON_TYPE }
      return JSON.parse((await send(url, { method: 'POST', path, headers, body: JSON.stringify(message) })).text).result
    }
    const tool = 'connect'
    expect(await call(mine.token, tool, { new_namespace: 'smuggled' })).toMatchObject({ isError: true })
    const names = (await sandbox.namespaces.list()).map(({ name }) => name)
    expect(names).not.toContain('smuggled')
    expect(await call(mine.token, tool)).not.toMatchObject({ isError: true })
    expect(await call(TOKEN, tool, { new_namespace: 'wanted' })).not.toMatchObject({ isError: true })
  })

  test('is all that a handle needs, and what the handle of a made namespace has', async () => {
    const mine = await handle()
    const { control_token: controlToken } = await mine.credentials()
    const again = await connectSandbox({ url, namespace: mine.namespace, controlToken: controlToken! })
    await again.clock.advance('1h')
    expect((await again.report()).verdict).toBe('inconclusive')
    await expect(again.namespaces.create()).rejects.toThrow(/control token of the namespace/)
    await expect(connectSandbox({ url, controlToken: controlToken! })).rejects.toThrow(/control token of the namespace/)
    // It is the sandbox's own token that makes namespaces, also from the handle of one.
    await using copy = await mine.namespaces.create({ from: mine.namespace })
    expect((await copy.credentials()).control_token).not.toBe(controlToken)
    await again.stop()
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).not.toContain(mine.namespace)
  })

  test('a copy, a seeding of its own and a snapshot have one too', async () => {
    const mine = await handle()
    const snapshot = await mine.snapshot()
    for (const wish of [{ from: mine.namespace }, { seed: 4 }, { snapshot }]) {
      await using one = await sandbox.namespaces.create(wish)
      const token = (await one.credentials()).control_token!
      expect(token.startsWith(`${one.namespace}.`)).toBe(true)
      expect(snapshot).not.toContain(token)
    }
  })

  test('reaches no log and no record', async () => {
    const mine = await handle()
    const token = (await mine.credentials()).control_token!
    const partner = new Partner(mine)
    await partner.get('pools', { headers: { 'x-sandbox-control-token': token, 'x-api-key': token } })
    await partner.get(`pools?token=${token}`)
    await partner.post('end_users', { external_id: token, user_jwt: token })
    await ask({ id: '', method: 'GET', target: '/_sandbox/clock', hasBody: false }, mine.namespace, bearer(token))
    const har = await new ControlClient(url, { controlToken: token }).in(mine.namespace).har()
    expect(JSON.stringify(har)).not.toContain(token.split('.')[1])
    expect(log).not.toContain(token.split('.')[1])
  })
})

async function signedIn(token: string): Promise<Record<string, string>> {
  const path = '/_sandbox/sessions'
  const answer = await send(url, { method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify({ token }) })
  expect(answer.status).toBe(204)
  return { cookie: answer.headers['set-cookie']!.split(';')[0]!, 'sec-fetch-site': 'same-origin' }
}

const handle = () => sandbox.namespaces.create()

test('without a control token of the sandbox a namespace has none', async () => {
  await using open = await startSandbox({ port: 0, confirmationDelay: 0 })
  await using mine = await open.namespaces.create()
  expect(await mine.credentials()).not.toHaveProperty('control_token')
})

test('it goes on working after a restart, and no file of the data directory has it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'yield-tokens-'))
  const options = { port: 0, confirmationDelay: 0, controlToken: TOKEN, dataDir }
  try {
    const first = await startSandbox(options)
    const mine = await first.namespaces.create({ name: 'kept' })
    const token = (await mine.credentials()).control_token!
    await first.stop()
    for (const file of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      expect((await readFile(join(file.parentPath, file.name))).includes(token.split('.')[1]!)).toBe(false)
    }
    await using again = await startSandbox(options)
    const handle = await connectSandbox({ url: again.baseUrl, namespace: 'kept', controlToken: token })
    expect((await handle.credentials()).control_token).toBe(token)
    await using changed = await again.namespaces.create()
    await expect(
      connectSandbox({ url: again.baseUrl, namespace: changed.namespace, controlToken: token }),
    ).rejects.toThrow(/control token of the namespace "kept"/)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
