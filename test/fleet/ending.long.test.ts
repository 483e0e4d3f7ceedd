import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import { ownConnection } from '../database/rows.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { FleetProcess } from './processes.ts'

describe.skipIf(noPostgres)(`a process that is told to end${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  let server: Postgres
  let database = 0
  let one: FleetProcess
  let url: string
  beforeAll(async () => {
    server = await Postgres.start(['fsync=on'])
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    database += 1
    url = server.createDatabase(`ending_${database}`)
    one = await FleetProcess.start(url, { flags: ['--drain', '1s'] })
  })
  afterEach(() => one.end())

  const control = ({ url }: FleetProcess) => new ControlClient(url)
  const names = async (process: FleetProcess) => (await control(process).namespaces()).map(({ name }) => name)
  /** What a request came to: its answer's status, or none. */
  const outcomeOf = (request: Promise<Response>) =>
    request.then(({ status }) => status).catch(() => 'no answer' as const)

  const killed = ['is away', async () => server.kill(), async () => server.run()] as const
  const stopped = ['stands still', async () => server.pause(), async () => server.resume()] as const
  test.each([
    ['entry', ...killed],
    ['namespace', ...killed],
    ['entry', ...stopped],
    ['namespace', ...stopped],
  ])(
    'ends by itself while a namespace is being made and one deleted, up to the table %s, and the database %s: each is there whole, or gone',
    async (locked, _, strike, mend) => {
      const kept = await control(one).createNamespace({ name: 'kept' })
      await control(one).createNamespace({ name: 'dropped' })
      const partner = partnerAt({ ...kept, base_url: one.url, auth_url: `${one.url}/oauth2/token` })
      const portfolio = await partner.open('zoe')
      expect((await partner.deposit('zoe', portfolio, '1000')).status).toBe(200)
      const client = await ownConnection(url)
      await client.query(`begin; lock table yield_sandbox.${locked} in share mode`)
      const at = `${one.url}/_sandbox/namespaces`
      const headers = { 'content-type': 'application/json' }
      const open = [
        outcomeOf(fetch(at, { method: 'POST', headers, body: JSON.stringify({ name: 'made' }) })),
        outcomeOf(fetch(`${at}/dropped`, { method: 'DELETE' })),
      ]
      await eventually(async () => {
        const [row] = await server.ask('select count(*)::int as waiting from pg_locks where not granted')
        expect(row?.waiting).toBeGreaterThan(0)
      })
      await strike()
      await eventually(() => expect(one.log.join('\n')).toMatch(/Writes wait until it answers/))
      const ended = once(one.child, 'exit')
      one.signal('SIGTERM')
      expect(await ended).toEqual([0, null]) // while the database is still away
      await mend()
      await client.query('rollback').catch(() => undefined) // its connection may have ended with the server
      await eventually(async () => {
        const [row] = await server.ask(
          `select count(*)::int as busy from pg_stat_activity where datname = 'ending_${database}' and state <> 'idle'`,
        )
        expect(row?.busy).toBe(0)
      })
      const [made, dropped] = await Promise.all(open)
      one = await FleetProcess.start(url)
      const left = await names(one)
      expect(left).toContain('kept')
      if (made === 201) expect(left).toContain('made')
      if (dropped === 204) expect(left).not.toContain('dropped')
      for (const name of left) {
        const audit = await eventually(() => control(one).in(name).audit())
        expect([name, audit]).toMatchObject([name, { ok: true }])
      }
      for (const name of ['made', 'dropped'].filter((name) => !left.includes(name)))
        await control(one).createNamespace({ name })
      const again = partnerAt({ ...kept, base_url: one.url, auth_url: `${one.url}/oauth2/token` })
      expect((await again.get('end_users/zoe/portfolios')).body.data).toMatchObject([{ deposited: '1000' }])
    },
  )
})
