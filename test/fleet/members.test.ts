import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Credentials } from '../../src/control/contract.ts'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'
import { FleetMember } from '../../src/sandbox/fleet-member.ts'
import { eventually } from '../helpers/eventually.ts'
import { writeFixture } from '../helpers/fixture-file.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'

const PUBLIC = 'http://127.0.0.1:9'
const OPTIONS = { port: 0, fleetPort: 0, publicUrl: PUBLIC, confirmationDelay: 0 }
const FORM = 'application/x-www-form-urlencoded'

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Answer = { status: number; body: any }

/** Asks one process at its own address. */
async function ask({ listeningUrl }: FleetMember, path: string, init: RequestInit & { json?: unknown } = {}) {
  const { json, ...rest } = init
  const own = json === undefined ? rest : { method: 'POST', body: JSON.stringify(json), ...rest }
  const headers = { ...(json !== undefined && { 'content-type': 'application/json' }), ...init.headers }
  const answer = await fetch(`${listeningUrl}${path}`, { ...own, headers })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) } as Answer
}

const post = (member: FleetMember, path: string, json: unknown = {}, headers = {}) =>
  ask(member, path, { json, headers })

/** A token of the namespace's first tenant, asked of that process by a form, or by HTTP Basic. */
async function token(member: FleetMember, { tenants, scope }: Credentials, basic = false): Promise<string> {
  const { client_id, client_secret } = tenants[0]!
  const wish = { grant_type: 'client_credentials', scope }
  const form = new URLSearchParams(basic ? wish : { ...wish, client_id, client_secret })
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
  const headers = { 'content-type': FORM, ...(basic && { authorization }) }
  const { status, body } = await ask(member, '/oauth2/token', { method: 'POST', body: form.toString(), headers })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.access_token
}

async function blockNumberBySocket({ listeningUrl }: FleetMember, path: string): Promise<unknown> {
  const socket = new WebSocket(`${listeningUrl.replace('http', 'ws')}${path}`)
  await once(socket, 'open')
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}')
  const [message] = await once(socket, 'message')
  socket.close()
  await once(socket, 'close')
  return JSON.parse(String(message))
}

// Handles, and a seed of one that made nothing: members.long.test.ts.
describe.skipIf(noPostgres)(`several processes on one database${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  const members: FleetMember[] = []

  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(async () => {
    await Promise.all(members.map((member) => member.stop()))
    await server?.stop()
  })

  const start = async (options: SandboxOptions = {}) => {
    const member = await FleetMember.start({ ...OPTIONS, database: server.url(), ...options })
    members.push(member)
    return member
  }
  const create = async (member: FleetMember, wish: object = {}) => {
    const { status, body } = await post(member, '/_sandbox/namespaces', wish)
    expect({ status, body }).toMatchObject({ status: 201 })
    return body as Credentials
  }
  const pathOf = ({ namespace }: Credentials) => `/_sandbox/namespaces/${namespace}`

  describe('of three', () => {
    let database: string
    let all: FleetMember[]
    let made: Credentials[]

    beforeAll(async () => {
      await server.ask('create database three')
      database = server.url('three')
      all = await Promise.all([1, 2, 3].map(() => start({ database, maxNamespaces: 6 })))
      made = []
      for (const [at, member] of all.entries()) made.push(await create(member, { name: `made-${at}` }))
    })

    test('each has what it was first asked for, and answers for what the others have', async () => {
      const default_ = await ask(all[1]!, '/_sandbox/credentials')
      expect(default_).toMatchObject({ status: 200, body: { base_url: PUBLIC, namespace: 'default' } })
      for (const member of all) expect(await ask(member, '/_sandbox/credentials')).toEqual(default_)
      expect(all.map(({ namespaces }) => namespaces)).toEqual([['made-0'], ['default', 'made-1'], ['made-2']])
      for (const member of all)
        expect(await ask(member, '/_sandbox/ready')).toEqual({ status: 200, body: { ready: true } })
      const healths = await Promise.all(all.map((member) => ask(member, '/_sandbox/health')))
      expect(new Set(healths.map(({ body }) => body.instance)).size).toBe(3)
    })

    test('every kind of request reaches its namespace through every process', async () => {
      for (const credentials of made) {
        const base = pathOf(credentials)
        await ask(all[0]!, `${base}/requests`, { method: 'DELETE' })
        for (const [at, member] of all.entries()) {
          const authorization = `Bearer ${await token(member, credentials, at === 1)}`
          const user = `user-${at}`
          const created = await post(member, '/v1/partner/end_users', { external_id: user }, { authorization })
          expect(created).toMatchObject({ status: 201, body: { external_id: user } })
          const { body } = await post(member, `${base}/tenants/acme/user_tokens`, { external_id: user })
          const headers = { authorization, 'x-user-token': body.token }
          const portfolios = await ask(member, `/v1/partner/end_users/${user}/portfolios`, { headers })
          expect(portfolios).toMatchObject({ status: 200, body: { data: [] } })
          const chain = new URL(credentials.rpc_urls['31337']!).pathname
          const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
          const block = await post(member, chain, call)
          expect(block).toMatchObject({ status: 200, body: { result: expect.stringMatching(/^0x/) } })
          expect(await blockNumberBySocket(member, chain)).toMatchObject({ id: 1, result: expect.any(String) })
          expect(await ask(member, `${base}/clock`)).toMatchObject({ status: 200 })
        }
        const record = await ask(all[0]!, `${base}/requests`)
        expect(record.body.data.map(({ operation }: { operation: string }) => operation).toSorted()).toEqual(
          ['create_end_user', 'list_portfolios', 'token'].flatMap((operation) => Array(3).fill(operation)),
        )
      }
      expect(all.map(({ namespaces }) => namespaces.length)).toEqual([1, 2, 1])
    })

    test('a token that the identity provider did not sign is refused by the default namespace, through every process', async () => {
      const good = await token(all[0]!, made[2]!)
      const [head, claims] = good.split('.')
      const headers = { authorization: `Bearer ${head}.${claims}.${Buffer.alloc(256).toString('base64url')}` }
      for (const member of all) {
        expect(await ask(member, '/v1/partner/pools', { headers })).toMatchObject({
          status: 401,
          body: { code: 'invalid_idp_token' },
        })
      }
    })

    test('list and usage are complete from every process', async () => {
      const [first, ...others] = await Promise.all(all.map((member) => ask(member, '/_sandbox/namespaces')))
      const names = ['default', 'made-0', 'made-1', 'made-2']
      expect(first!.body.map(({ name }: { name: string }) => name)).toEqual(names)
      for (const other of others) expect(other).toEqual(first)
      for (const member of all) {
        const { namespaces, namespace_count } = (await ask(member, '/_sandbox/usage')).body
        expect(namespaces.map(({ name }: { name: string }) => name)).toEqual(names)
        expect(namespaces.map(({ holdings }: { holdings: unknown }) => holdings !== null)).toEqual([
          true,
          true,
          true,
          true,
        ])
        expect(namespace_count).toMatchObject({ total: 4, open: 4, limit: 6 })
      }
      expect((await ask(all[0]!, '/_sandbox/namespaces/made-2')).body).toMatchObject({ name: 'made-2', ready: true })
    })

    test('a name is given once, whoever asks where', async () => {
      const exists = { status: 409, body: { code: 'namespace_exists', param: 'name' } }
      expect(await post(all[0]!, '/_sandbox/namespaces', { name: 'made-2' })).toMatchObject(exists)
      const both = await Promise.all(
        all.slice(1).map((member) => post(member, '/_sandbox/namespaces', { name: 'both' })),
      )
      expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
      const some = await Promise.all(all.map((member) => post(member, '/_sandbox/namespaces', {})))
      const given = some.filter(({ status }) => status === 201).map(({ body }) => body.namespace)
      expect(new Set(given).size).toBe(given.length)
      expect(given.length).toBeGreaterThan(0)
      for (const name of given.slice(0)) await ask(all[0]!, `/_sandbox/namespaces/${name}`, { method: 'DELETE' })
      await create(all[0]!, { name: 'five' })
      await create(all[1]!, { name: 'six' })
      const many = await post(all[2]!, '/_sandbox/namespaces', {})
      expect(many).toMatchObject({ status: 409, body: { code: 'too_many_namespaces' } })
      for (const name of ['both', 'five', 'six']) {
        expect(await ask(all[2]!, `/_sandbox/namespaces/${name}`, { method: 'DELETE' })).toEqual({
          status: 204,
          body: undefined,
        })
      }
    })

    test('a namespace that is deleted elsewhere is gone everywhere, and its name is free', async () => {
      const credentials = await create(all[0]!, { name: 'short' })
      const bearer = { authorization: `Bearer ${await token(all[2]!, credentials)}` }
      expect((await ask(all[2]!, '/v1/partner/pools', { headers: bearer })).status).toBe(200)
      expect((await ask(all[1]!, pathOf(credentials), { method: 'DELETE' })).status).toBe(204)
      for (const member of all) {
        expect(await ask(member, `${pathOf(credentials)}/clock`)).toMatchObject({
          status: 404,
          body: { code: 'namespace_not_found', detail: expect.stringContaining('There is no namespace "short"') },
        })
        expect(await ask(member, '/v1/partner/pools', { headers: bearer })).toMatchObject({ status: 401 })
      }
      const again = await create(all[2]!, { name: 'short' })
      expect(await ask(all[0]!, '/v1/partner/pools', { headers: bearer })).toMatchObject({ status: 401 })
      expect((await ask(all[0]!, `${pathOf(again)}/clock`)).status).toBe(200)
      expect((await ask(all[1]!, pathOf(again), { method: 'DELETE' })).status).toBe(204)
    })

    test('a copy of a namespace is made where that is, and refused in its words', async () => {
      const [{ tenants }] = made as [Credentials]
      await post(all[1]!, '/_sandbox/namespaces/made-0/clock', { set: '2031-01-01T00:00:00Z' })
      const before = all[0]!.namespaces
      const copy = await create(all[2]!, { name: 'copy', from: 'made-0' })
      expect(copy.tenants[0]!.client_id).not.toBe(tenants[0]!.client_id)
      expect(all[0]!.namespaces).toEqual([...before, 'copy'])
      expect((await ask(all[1]!, '/_sandbox/namespaces/copy/clock')).body.now).toMatch(/^2031-/)
      const past = await post(all[2]!, '/_sandbox/namespaces', { from: 'made-0', clock: '2030-01-01T00:00:00Z' })
      expect(past).toMatchObject({ status: 400, body: { code: 'validation_error', param: 'clock' } })
      expect((await post(all[2]!, '/_sandbox/namespaces', { from: 'nobody' })).body.code).toBe('namespace_not_found')
      await ask(all[0]!, '/_sandbox/namespaces/copy', { method: 'DELETE' })
    })

    test('one that drains goes on with held requests, and gives the rest away at once', async () => {
      const [, leaving, other] = all as [FleetMember, FleetMember, FleetMember]
      const held = await create(leaving, { name: 'held' })
      const idle = await create(leaving, { name: 'idle' })
      const headers = { authorization: `Bearer ${await token(leaving, held)}` }
      const rule = {
        kind: 'latency',
        phase: 'on_request',
        times: 'always',
        with: { delay: '10h' },
        match: { operation: 'list_pools' },
      }
      expect(await post(other, `${pathOf(held)}/faults`, rule)).toMatchObject({ status: 201 })
      const listing = [leaving, other].map((member) => ask(member, '/v1/partner/pools', { headers }))
      await eventually(async () => {
        const { data } = (await ask(other, `${pathOf(held)}/requests`)).body
        expect(data.filter(({ end }: { end: string }) => end === 'open')).toHaveLength(2)
      })
      const before = leaving.namespaces
      expect(before).toEqual(expect.arrayContaining(['held', 'idle']))
      const stopped = leaving.stop()
      await eventually(() => expect(leaving.namespaces).toEqual(['held']))
      expect(await ask(leaving, '/_sandbox/ready')).toMatchObject({
        status: 503,
        body: { reason: 'The process is stopping.' },
      })
      // What was given away is passed on, what is held goes on: also what comes anew.
      expect((await ask(leaving, `${pathOf(idle)}/credentials`)).body).toMatchObject({ namespace: 'idle' })
      expect(leaving.namespaces).toEqual(['held'])
      const user = await post(other, '/v1/partner/end_users', { external_id: 'late' }, headers)
      expect(user).toMatchObject({ status: 201 })
      expect(leaving.namespaces).toEqual(['held'])
      await ask(other, `${pathOf(held)}/faults`, { method: 'DELETE' })
      expect((await Promise.all(listing)).map(({ status }) => status)).toEqual([200, 200])
      await stopped
      expect((await post(other, '/v1/partner/end_users', { external_id: 'late' }, headers)).body).toEqual(user.body)
      expect([all[0]!, other].flatMap(({ namespaces }) => namespaces)).toEqual(expect.arrayContaining(['held', 'idle']))
      all[1] = await start({ database, maxNamespaces: 6, drain: '300ms' })
      for (const name of ['held', 'idle']) await ask(all[1]!, `/_sandbox/namespaces/${name}`, { method: 'DELETE' })
    })

    test('one that stops gives what it has to whoever is asked, one namespace after another', async () => {
      const stopped = all[2]!.stop()
      const answers = await Promise.all([
        ask(all[0]!, '/_sandbox/credentials'),
        ask(all[1]!, '/_sandbox/namespaces/made-2/credentials'),
        ask(all[0]!, '/_sandbox/namespaces/made-2/credentials'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(answers[1]).toEqual(answers[2])
      await stopped
      // Both are asked at once for what may be nobody's: one of them takes it, and the other passes on to that one.
      const asked = ['default', 'made-1', 'made-2'].flatMap((name) =>
        all.slice(0, 2).map(async (member) => {
          expect((await ask(member, `/_sandbox/namespaces/${name}/credentials`)).body.namespace).toBe(name)
        }),
      )
      await Promise.all(asked)
      const owners = [all[0]!, all[1]!].flatMap(({ namespaces }) => namespaces)
      expect(owners.toSorted()).toEqual(['default', 'made-0', 'made-1', 'made-2'])
      const report = await ask(all[1]!, '/_sandbox/namespaces/made-2/report')
      expect(report.body).toMatchObject({ verdict: 'inconclusive' })
      expect((await ask(all[1]!, '/_sandbox/namespaces/made-0/report')).body.unmet.join()).not.toContain('takeover')
    })

    test('a drain ends what is held for longer than it may take', async () => {
      const [other, leaving] = all as [FleetMember, FleetMember]
      const held = await create(leaving, { name: 'held' })
      const rule = { kind: 'hang', phase: 'on_request', times: 'always', match: { operation: 'list_pools' } }
      expect(await post(other, `${pathOf(held)}/faults`, rule)).toMatchObject({ status: 201 })
      const headers = { authorization: `Bearer ${await token(other, held)}` }
      const cut = [leaving, other].map((member) =>
        ask(member, '/v1/partner/pools', { headers }).then(
          () => 'answered',
          () => 'cut',
        ),
      )
      await eventually(async () => {
        const { data } = (await ask(other, `${pathOf(held)}/requests`)).body
        expect(data.filter(({ end }: { end: string }) => end === 'open')).toHaveLength(2)
      })
      await leaving.stop()
      expect(await Promise.all(cut)).toEqual(['cut', 'cut'])
      expect((await ask(other, '/v1/partner/pools', { headers })).status).toBe(200)
      const announced = await ask(other, '/_sandbox/public_url', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ public_url: 'http://127.0.0.1:10' }),
      })
      expect(announced).toMatchObject({ status: 400, body: { param: 'public_url' } })
    })

    test('a namespace that belongs to nobody expires as one that nobody uses', async () => {
      const [first] = all as [FleetMember]
      for (const name of ['old', 'used']) await create(first, { name })
      await first.stop()
      const second = await start({ database, namespaceExpiry: '2s' })
      const names = async () => {
        await ask(second, '/_sandbox/namespaces/used/clock')
        return (await ask(second, '/_sandbox/namespaces')).body.map(({ name }: { name: string }) => name)
      }
      // Each look is a use, and asks the database: ten in the time of an expiry are enough.
      await eventually(async () => expect(await names()).toEqual(['default', 'used']), 200)
      const gone = await ask(second, '/_sandbox/namespaces/old/clock')
      expect(gone.body.detail).toContain('because nobody had used it for 2s')
      await second.stop()
    })
  })

  describe('of two with a control token and a seed', () => {
    const controlToken = 'the-token-of-the-sandbox'
    const sandbox = { authorization: `Bearer ${controlToken}` }
    let database: string
    let both: FleetMember[]

    beforeAll(async () => {
      database = server.url()
      both = await Promise.all([1, 2].map(() => start({ database, controlToken, seed: 7 })))
    })

    test('the control token of a namespace opens it through every process, and nothing else', async () => {
      const one = (await post(both[0]!, '/_sandbox/namespaces', { name: 'one' }, sandbox)).body as Credentials
      const two = (await post(both[1]!, '/_sandbox/namespaces', { name: 'two' }, sandbox)).body as Credentials
      const own = { authorization: `Bearer ${one.control_token}` }
      for (const member of both) {
        expect((await ask(member, `${pathOf(one)}/clock`, { headers: own })).status).toBe(200)
        expect((await ask(member, pathOf(one), { headers: own })).status).toBe(200)
        expect(await ask(member, `${pathOf(two)}/clock`, { headers: own })).toMatchObject({
          body: { code: 'control_forbidden' },
        })
        expect(await ask(member, '/_sandbox/namespaces', { headers: own })).toMatchObject({
          body: { code: 'control_forbidden' },
        })
        const foreign = { claims: { appid: two.tenants[0]!.client_id } }
        const minted = await post(member, `${pathOf(one)}/tenants/acme/idp_tokens`, foreign, own)
        expect(minted).toMatchObject({ status: 403, body: { param: 'claims.appid' } })
      }
      const sessions = `${both[0]!.listeningUrl}/_sandbox/sessions`
      const headers = { 'content-type': 'application/json' }
      for (const token of [controlToken, one.control_token]) {
        const signedIn = await fetch(sessions, { method: 'POST', headers, body: JSON.stringify({ token }) })
        expect(signedIn.status).toBe(204)
        const cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0]!
        expect(cookie).not.toContain(token)
        for (const member of both) {
          expect((await ask(member, `${pathOf(one)}/clock`, { headers: { cookie } })).status).toBe(200)
          const { status } = await ask(member, `${pathOf(two)}/clock`, { headers: { cookie } })
          expect(status).toBe(token === controlToken ? 200 : 403)
          expect((await ask(member, `${pathOf(one)}/clock`, { headers: { cookie: cookie.slice(0, -4) } })).status).toBe(
            401,
          )
        }
      }
      await both[0]!.stop()
    })

    test('one of another seed is refused, and so is one that shares with nobody', async () => {
      await expect(start({ database, seed: 8 })).rejects.toThrow('it was made with seed 7, not 8')
      const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-seeds-'))
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const fewer = await writeFixture(directory, ({ tenants }) => void tenants.pop())
      await expect(start({ database, fixtures: fewer })).rejects.toThrow(
        /made from a fixture file with other tenants, pools or chains\. Fix: name that file in --fixtures, or start with/,
      )
      const second = await start({ database, controlToken })
      expect((await ask(second, '/_sandbox/credentials', { headers: sandbox })).body.seed).toBe(7)
      await expect(startSandbox({ port: 0, database })).rejects.toThrow('start this one with --fleet-port')
      await Promise.all([both[1]!, second].map((member) => member.stop()))
      const alone = await startSandbox({ port: 0, database })
      expect(alone.seed).toBe(7)
      await expect(start({ database })).rejects.toThrow('start it with --fleet-port')
      await alone.stop()
      await expect(startSandbox({ port: 0, database, fleetHost: '127.0.0.1' })).rejects.toThrow('give --fleet-port')
    })
  })

  test.each([
    [{ publicUrl: undefined }, '--fleet-port needs --public-url'],
    [{ database: undefined }, '--fleet-port needs --database'],
    [{ publicUrl: 'http://sandbox.acme.test' }, '--fleet-port needs --control-token'],
    [{ snapshot: 'state.json' }, '--snapshot begins a state'],
    [{ idleExit: '8h' }, '--idle-exit ends one process'],
    [{ dataDir: '/nowhere' }, '--database and --data-dir'],
    [{ tls: 'self-signed' as const }, '--tls self-signed'],
  ])('is refused with %j', async (options, sentence) => {
    const given = Object.entries({ ...OPTIONS, database: server.url(), ...options })
    const start = FleetMember.start(Object.fromEntries(given.filter(([, value]) => value !== undefined)))
    await expect(start).rejects.toThrow(sentence)
  })
})
