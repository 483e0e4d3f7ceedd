import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

  const start = async () => {
    const options = { port: 0, fleetPort: 0, publicUrl: PUBLIC, confirmationDelay: 0, database: server.url() }
    const member = await FleetMember.start(options)
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
  })
})
