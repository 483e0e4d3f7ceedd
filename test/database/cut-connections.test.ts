import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CuttingProxy } from '../helpers/cutting-proxy.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { cutEverywhere } from './cut-everywhere.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { openRegistry, openStorage } from './workbench.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

describe.skipIf(noPostgres !== undefined)(
  `an append whose connection is cut${noPostgres ? ` (${noPostgres})` : ''}`,
  () => {
    it.each([
      ['request', 41],
      ['reply', 5],
    ] as const)('within its %s is stored once', (way, step) => cutEverywhere(server, way, step))

    it('is stored once when the server carries out both its first and its second try', async () => {
      const proxy = await CuttingProxy.before(server.port)
      const registry = await openRegistry(server.url('postgres', proxy.port), { leaseMs: 600_000 })
      const storage = await openStorage(registry, 'late')
      const journal = await storage.journal<number>('ledger')
      await journal.append(1)
      const other = await ownConnection(server.url())
      await other.query('begin')
      await other.query(`select from yield_sandbox.namespace where name = 'late' for update`)
      const late = journal.append(2)
      const watching = await ownConnection(server.url()) // within a transaction the activity stays as it was first seen
      const waiting = async (count: number) => {
        const { rows } = await watching.query(
          `select count(*)::int as count from pg_locks where not granted and pid in
          (select pid from pg_stat_activity where query like '%with fence%')`,
        )
        expect(rows[0].count).toBeGreaterThanOrEqual(count)
      }
      await eventually(() => waiting(1))
      proxy.abandon() // the server does not notice: its first try goes on
      await eventually(() => waiting(2)) // the head was read, and it was what it was before: so it is tried again
      await other.query('commit')
      await late
      await journal.append(3)
      expect(storage.lost.aborted).toBe(false)
      expect((await storedEntries(other, 'late')).map(({ value }) => value)).toEqual([1, 2, 3])
      await registry.close()
      await proxy.close()
    })
  },
)
