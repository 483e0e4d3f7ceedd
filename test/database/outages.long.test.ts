import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { DatabaseRegistry } from '../../src/database/database-registry.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { NotKeptError } from '../../src/domain/ports/journal.ts'
import { eventually } from '../helpers/eventually.ts'
import { noPgBouncer, noPostgres, PgBouncer, Postgres } from '../helpers/postgres.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { linesLog, openRegistry, openStorage, SLEEPER } from './workbench.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** Namespaces that are written to until the test says so. */
async function load(registry: DatabaseRegistry, names: readonly string[]) {
  let ended = false
  const acknowledged = new Map<string, number[]>()
  const storages = await Promise.all(names.map((name) => openStorage(registry, name)))
  const writers = storages.map(async (storage, i) => {
    const journal = await storage.journal<number>('ledger')
    const done: number[] = []
    acknowledged.set(names[i] ?? '', done)
    for (let n = 0; !ended; n += 3) {
      await Promise.all([n, n + 1, n + 2].map((one) => journal.append(one).then(() => done.push(one))))
    }
  })
  const count = () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0)
  return {
    storages,
    acknowledged,
    /** Resolves when so many more entries are acknowledged. */
    more: async (number: number) => {
      const before = count()
      await eventually(() => expect(count()).toBeGreaterThan(before + number))
    },
    end: async () => {
      ended = true
      await Promise.all(writers)
    },
  }
}

async function expectAll(acknowledged: ReadonlyMap<string, readonly number[]>): Promise<void> {
  const client = await ownConnection(server.url())
  for (const [name, entries] of acknowledged) {
    expect((await storedEntries(client, name)).map(({ value }) => value)).toEqual(entries)
  }
}

describe.skipIf(noPostgres !== undefined)(`while the database is away${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('appends wait, and none that was acknowledged is lost or doubled when PostgreSQL is killed', async () => {
    const log = linesLog()
    const registry = await openRegistry(server.url(), { log })
    const { storages, acknowledged, more, end } = await load(registry, ['a', 'b', 'c'])
    const away: (number | undefined)[] = []
    registry.database.onAway((since) => away.push(since))
    for (let round = 1; round <= 2; round++) {
      await more(100)
      await server.kill()
      await eventually(() => expect(registry.database.awaySince).toBeTypeOf('number'))
      await expect(storages[0]?.check()).rejects.toThrow(/the database has not answered since \d{4}-/)
      await expect(storages[0]?.probeRoom(1)).rejects.toBeInstanceOf(NotKeptError)
      await server.run()
      await eventually(() => expect(registry.database.awaySince).toBeUndefined())
      await storages[0]?.check()
    }
    await more(100)
    await end()
    await expectAll(acknowledged)
    expect(storages.map(({ lost }) => lost.aborted)).toEqual([false, false, false])
    expect(away.map((since) => typeof since).slice(0, 4)).toEqual(['number', 'undefined', 'number', 'undefined'])
    expect(log.lines.filter((line) => line.startsWith('warn')).join('\n')).toMatch(/ Writes wait until it answers\./)
    expect(log.lines.join('\n')).toContain('it answers again')
    await registry.close()
  })

  it('appends go on when all connections are terminated', async () => {
    const registry = await openRegistry(server.url())
    const { storages, acknowledged, more, end } = await load(registry, ['d', 'e'])
    const client = await ownConnection(server.url())
    for (let round = 1; round <= 5; round++) {
      await more(30)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'yield-sandbox'`,
      )
    }
    await more(30)
    await end()
    await expectAll(acknowledged)
    expect(storages.map(({ lost }) => lost.aborted)).toEqual([false, false])
    await registry.close()
  })

  it('a loss of its tail is found without a write, when another server answers', async () => {
    const registry = await openRegistry(server.url(), { leaseMs: 4_000 })
    onTestFinished(() => registry.close())
    const storage = await openStorage(registry, 'idle')
    const journal = await storage.journal<number>('ledger')
    await journal.append(1)
    const other = await openStorage(registry, 'whole')
    const client = await ownConnection(server.url())
    await client.query(`update yield_sandbox.namespace set head = head - 1 where name = 'idle'`)
    await server.kill()
    await server.run()
    await eventually(() => expect(storage.lost.aborted).toBe(true))
    expect(storage.holds()).toBe(false)
    expect(other.lost.aborted).toBe(false)
  })

  it.skipIf(noPgBouncer !== undefined)(
    'so is one behind PgBouncer, which hides that the server is another one',
    async () => {
      const bouncer = await PgBouncer.start(server)
      onTestFinished(() => bouncer.stop())
      const renew: (() => void)[] = []
      const clock = Object.assign(new SandboxClock(), {
        wallSleep: (_: number, signal?: AbortSignal) =>
          new Promise<void>((resolve) => {
            if (signal?.aborted) resolve()
            signal?.addEventListener('abort', () => resolve())
            renew.push(resolve)
          }),
      })
      const registry = await openRegistry(server.url('postgres', bouncer.port), { leaseMs: 60_000, clock })
      const storage = await openStorage(registry, 'hidden')
      await (await storage.journal<number>('ledger')).append(1)
      const client = await ownConnection(server.url())
      await client.query(`update yield_sandbox.namespace set head = head - 1 where name = 'hidden'`)
      await server.kill()
      await server.run()
      for (const wake of renew.splice(0)) wake()
      await eventually(() => expect(storage.lost.aborted).toBe(true))
      expect(registry.database.awaySince).toBeUndefined()
      await registry.close()
    },
  )

  it('nothing is answered from memory once another server has answered, until it is known what that one has', async () => {
    const registry = await openRegistry(server.url(), { clock: SLEEPER, leaseMs: 600_000 })
    onTestFinished(() => registry.close())
    const [older, whole] = [await openStorage(registry, 'older'), await openStorage(registry, 'same')]
    for (const storage of [older, whole]) await (await storage.journal<number>('ledger')).append(1)
    const client = await ownConnection(server.url())
    await client.query(`update yield_sandbox.namespace set head = head - 1 where name = 'older'`)
    await server.kill()
    await server.run()
    await registry.lease.renewed() // which finds that its connection is gone
    expect(await older.renewed()).toBe(false)
    expect(await whole.renewed()).toBe(true)
  })

  it('a namespace is closed all the same, and nothing of it is answered as kept', async () => {
    const registry = await openRegistry(server.url())
    const storage = await openStorage(registry, 'closed')
    const journal = await storage.journal<number>('ledger')
    await journal.append(1)
    await server.kill()
    const outcome = journal.append(2).then(
      () => 'kept',
      (error: Error) => error.message,
    )
    await storage.close()
    expect(await outcome).toContain('it was closed')
    await registry.close()
    await server.run()
  })

  it('a statement that is refused for good rejects at once, and nothing has changed', async () => {
    const registry = await openRegistry(server.url())
    onTestFinished(() => registry.close())
    const storage = await openStorage(registry, 'refused')
    await expect(storage.manifest.update({ version: 'a\u0000b' })).rejects.toBeInstanceOf(NotKeptError)
    expect(storage.manifest.data.version).toBe('0.0.0')
    await storage.manifest.update({ version: '1.0.0' })
    expect(storage.manifest.data.version).toBe('1.0.0')
  })
})
