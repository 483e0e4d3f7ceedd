import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'
import { FleetMember } from '../../src/sandbox/fleet-member.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'

const PUBLIC = 'http://127.0.0.1:9'

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

  const createDatabase = async (name: string) => {
    const client = new Client(server.url())
    await client.connect()
    await client.query(`create database ${name}`)
    await client.end()
  }
  const OPTIONS = { port: 0, fleetPort: 0, publicUrl: PUBLIC, confirmationDelay: 0 }
  const start = async (options: SandboxOptions = {}) => {
    const member = await FleetMember.start({ ...OPTIONS, database: server.url(), ...options })
    members.push(member)
    return member
  }
  const ask = async ({ listeningUrl }: FleetMember, path: string) => {
    const answer = await fetch(`${listeningUrl}${path}`)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  test('the first leads, the second passes on to it and takes over when it stops', async () => {
    const first = await start()
    const second = await start()
    expect([first.role, second.role]).toEqual(['leader', 'standby'])
    const credentials = await ask(first, '/_sandbox/credentials')
    expect(credentials).toMatchObject({ status: 200, body: { base_url: PUBLIC } })
    expect(await ask(second, '/_sandbox/credentials')).toEqual(credentials)
    for (const member of [first, second])
      expect(await ask(member, '/_sandbox/ready')).toEqual({ status: 200, body: { ready: true } })
    const [one, other] = [await ask(first, '/_sandbox/health'), await ask(second, '/_sandbox/health')]
    expect(one.body.instance).not.toBe(other.body.instance)

    const stopped = first.stop()
    expect(await ask(second, '/_sandbox/credentials')).toEqual(credentials)
    await stopped
    await eventually(() => expect(second.role).toBe('leader'))
    await second.stop()
  })

  test('two that start at once agree on who leads', async () => {
    await createDatabase('at_once')
    const both = await Promise.all([1, 2].map(() => start({ database: server.url('at_once') })))
    expect(both.map(({ role }) => role).toSorted()).toEqual(['leader', 'standby'])
    await Promise.all(both.map((member) => member.stop()))
  })

  test('one that cannot take over leaves it to others', async () => {
    await createDatabase('seeds')
    const database = server.url('seeds')
    const first = await start({ database, seed: 7 })
    const wrong = await start({ database, seed: 8 })
    expect(wrong.role).toBe('standby')
    await first.stop()
    const third = await eventually(() => start({ database, seed: 7 }))
    await eventually(() => expect(third.role).toBe('leader'))
    expect(await ask(wrong, '/_sandbox/credentials')).toMatchObject({ status: 200, body: { seed: 7 } })
    await Promise.all([wrong.stop(), third.stop()])
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

  test('a handle of one that stands by works as that of the leader, whose end its clients do not see', async () => {
    await createDatabase('handles')
    const options = { ...OPTIONS, database: server.url('handles') }
    const leader = await startSandbox(options)
    const standby = await startSandbox(options)
    const made = await standby.namespaces.create({ name: 'one' })
    expect((await leader.namespaces.list()).map(({ name }) => name)).toContain('one')
    expect((await made.report()).unmet).toEqual(['No request of the client came.'])
    const [, report] = await Promise.all([leader.stop(), made.report()])
    expect(report.unmet.join()).toMatch(/No request of the client came|begins with a takeover/)
    expect((await made.report()).unmet).toContainEqual(expect.stringContaining('the record begins with a takeover'))
    await made.reset()
    expect((await made.report()).unmet).toEqual(['No request of the client came.'])
    await standby.stop()
  })

  test('does not follow one that takes nothing from others', async () => {
    await createDatabase('alone')
    const database = server.url('alone')
    const alone = await startSandbox({ port: 0, database })
    await expect(start({ database })).rejects.toThrow('start it with --fleet-port')
    await alone.stop()
    await expect(startSandbox({ port: 0, database, fleetHost: '127.0.0.1' })).rejects.toThrow('give --fleet-port')
  })
})
