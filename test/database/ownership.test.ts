import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { OwnedElsewhereError } from '../../src/database/database-error.ts'
import type { DatabaseRegistry } from '../../src/database/database-registry.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { NotOwnerError } from '../../src/domain/ports/journal.ts'
import { eventually } from '../helpers/eventually.ts'
import { allEntries } from '../helpers/exercise-journal.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection, storedEntries } from './rows.ts'
import { stopAndGo } from './stop-and-go.ts'
import { linesLog, openRegistry, openStorage, SLEEPER, START } from './workbench.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** A process that ends with the test. */
async function process(wish: Parameters<typeof openRegistry>[1] = {}): Promise<DatabaseRegistry> {
  const registry = await openRegistry(server.url(), wish)
  onTestFinished(() => registry.close())
  return registry
}

const dyingProcess = (leaseMs: number) => process({ address: 'dying:1', clock: SLEEPER, leaseMs })

describe.skipIf(noPostgres !== undefined)(`a namespace${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('is held again by a process that had no processor for longer than its lease, unless another one has it', async () => {
    let asleep = 0
    const monotonicNow = () => SLEEPER.monotonicNow() + asleep
    const registry = await process({
      leaseMs: 60_000,
      clock: Object.assign(new SandboxClock(), SLEEPER, { monotonicNow }),
    })
    const storage = await openStorage(registry, 'asleep')
    expect(storage.holds()).toBe(true)
    asleep = 60_000
    expect(storage.holds()).toBe(false)
    expect(await Promise.all([storage.renewed(), storage.renewed()])).toEqual([true, true])
    expect(storage.holds()).toBe(true)
    asleep = 120_000
    const client = await ownConnection(server.url())
    await client.query('update yield_sandbox.process set dead = true where id = $1', [registry.lease.id])
    expect(await storage.renewed()).toBe(false)
    expect(storage.lost.aborted).toBe(true)
    expect(await storage.renewed()).toBe(false)
  })

  it('stores entries without hurry together with the next ones of other journals, in the order of the calls', async () => {
    const registry = await dyingProcess(60_000) // whose clock never moves on: alone they would wait for ever
    const storage = await openStorage(registry, 'together')
    const [unhurried, ledger] = [
      await storage.journal('showings', { unhurried: true }),
      await storage.journal('ledger'),
    ]
    const stored: string[] = []
    const entries = [1, 2].map((n) => unhurried.append(n).then(() => stored.push(`showing ${n}`)))
    await registry.database.query('select')
    expect(stored).toEqual([])
    await ledger.append(3).then(() => stored.push('ledger'))
    await Promise.all(entries)
    expect(stored).toEqual(['showing 1', 'showing 2', 'ledger'])
    const client = await ownConnection(server.url())
    expect((await storedEntries(client, 'together', 'showings')).map(({ value }) => value)).toEqual([1, 2])
  })

  it('belongs to one process while that lives, and goes on where it was when another one takes it', async () => {
    const [first, second] = [await process({ address: 'first:1' }), await process()]
    const storage = await openStorage(first, 'acme')
    await (await storage.journal('ledger')).append({ n: 1 })
    await storage.begin('1.2.3')
    const error = await openStorage(second, 'acme').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OwnedElsewhereError)
    expect((error as Error).message).toMatch(/namespace acme: the process at first:1 has it\. Fix: /)
    await expect(openStorage(first, 'acme')).rejects.toThrow(OwnedElsewhereError)
    await storage.close()
    const moved = await openStorage(second, 'acme')
    expect(moved.manifest.data).toMatchObject({ runs: 1, clean: false, version: '1.2.3' })
    expect(await allEntries(await moved.journal('ledger'))).toEqual([{ n: 1 }])
    expect(storage.lost.aborted).toBe(false)
  })

  it('of a process whose lease has expired is taken, and that process is dead for good', async () => {
    const [dying, other] = [await dyingProcess(2_000), await process()]
    const storage = await openStorage(dying, 'orphan')
    const journal = await storage.journal<number>('ledger')
    await journal.append(1)
    const taken = await openStorage(other, 'orphan')
    expect(dying.lease.holds()).toBe(false)
    expect(storage.holds()).toBe(false)
    expect(taken.holds()).toBe(true)
    const client = await ownConnection(server.url())
    const renewed = await client.query(
      `update yield_sandbox.process set expires_at = now() + interval '1 hour' where id = $1 and not dead`,
      [dying.lease.id],
    )
    expect(renewed.rowCount).toBe(0)
    await (await taken.journal<number>('ledger')).append(2)
    await expect(journal.append(3)).rejects.toBeInstanceOf(NotOwnerError)
    expect(storage.lost.aborted).toBe(true)
    await expect(storage.manifest.update({ clean: true })).rejects.toBeInstanceOf(NotOwnerError)
    const entries = await storedEntries(client, 'orphan')
    expect(entries.map(({ value, epoch }) => [value, epoch])).toEqual([
      [1, 1],
      [2, 2],
    ])
  })

  it('is lost when its process is declared dead although it still renews, and nothing is written when it is closed', async () => {
    const registry = await process({ leaseMs: 200 })
    const storage = await openStorage(registry, 'declared')
    const client = await ownConnection(server.url())
    await client.query('update yield_sandbox.process set dead = true where id = $1', [registry.lease.id])
    await eventually(() => expect(storage.lost.aborted).toBe(true))
    expect(registry.lease.holds()).toBe(false)
    await storage.close()
    const { rows } = await client.query(`select owner, epoch from yield_sandbox.namespace where name = 'declared'`)
    expect(rows).toEqual([{ owner: registry.lease.id, epoch: '1' }])
  })

  it('is fenced by its owner as well as by its epoch: a failover may give an epoch out twice', async () => {
    const [first, second] = [await process(), await process()]
    const client = await ownConnection(server.url())
    const storage = await openStorage(first, 'twice')
    const journal = await storage.journal<number>('ledger')
    await journal.append(1)
    await client.query(`update yield_sandbox.namespace set owner = null, epoch = epoch - 1 where name = 'twice'`)
    const again = await openStorage(second, 'twice')
    await expect(journal.append(2)).rejects.toBeInstanceOf(NotOwnerError)
    await (await again.journal<number>('ledger')).append(3)
    expect((await storedEntries(client, 'twice')).map(({ value, epoch }) => [value, epoch])).toEqual([
      [1, 1],
      [3, 1],
    ])
  })

  it('is lost, and that is said, when the database has lost what it acknowledged', async () => {
    const log = linesLog()
    const registry = await process({ log })
    const client = await ownConnection(server.url())
    const storage = await openStorage(registry, 'tail')
    const journal = await storage.journal<number>('ledger')
    await client.query(`create table older as select * from yield_sandbox.namespace where name = 'tail'`)
    for (const n of [1, 2]) await journal.append(n)
    await client.query(`delete from yield_sandbox.entry where namespace = 'tail'`)
    await client.query(
      `update yield_sandbox.namespace n set head = o.head, generations = o.generations from older o where n.name = o.name`,
    )
    await expect(journal.append(3)).rejects.toThrow('the database has lost the last 2 commits of this namespace')
    expect(storage.lost.reason).toBeInstanceOf(NotOwnerError)
    expect(log.lines.join('\n')).toMatch(/error: .*namespace tail: the database has lost the last 2 commits/)
    await storage.close()
  })

  it.each([
    [
      'commits',
      `update yield_sandbox.namespace set head = head - 1, owner = null where name = 'older-commits'`,
      'the last commit of',
    ],
    ['itself', `delete from yield_sandbox.namespace where name = 'older-itself'`, ''],
  ])(
    'is lost, and what else is gone is said, when the database is an older one that does not know this process: %s',
    async (what, restore, lost) => {
      const registry = await process({ leaseMs: 200 })
      const storage = await openStorage(registry, `older-${what}`)
      await (await storage.journal<number>('ledger')).append(1)
      const client = await ownConnection(server.url())
      await client.query(`with gone as (delete from yield_sandbox.process where id = '${registry.id}') ${restore}`)
      await eventually(() => expect(storage.lost.aborted).toBe(true))
      expect(storage.lost.reason.message).toContain(`the database has lost ${lost || 'this namespace'}`)
      expect(registry.dead.aborted).toBe(true)
    },
  )

  it('of a name that was deleted begins anew, with an epoch that was never given out', async () => {
    const registry = await process()
    const kept = {
      created_at: '2026-01-01T00:00:00.000Z',
      seed: 1,
      clock_start: null,
      confirmation_delay: { min: 0, max: 0 },
      clients: { t1: { slug: 'acme', client_id: 'c1', client_secret: 's' } },
      fixtures: null,
    }
    const first = await openStorage(registry, 'again')
    expect(await registry.list()).toEqual([])
    await registry.keep('again.1', kept)
    expect(await registry.list()).toEqual([{ name: 'again', life: 'again.1', kept }])
    await (await first.journal('ledger')).append(1)
    await first.close()
    await registry.forget('again.1')
    expect(await registry.list()).toEqual([])
    const second = await registry.open('again.2', { ...START, log: linesLog() })
    expect(second.manifest.data.journals).toEqual([])
    const journal = await second.journal('ledger')
    expect(await allEntries(journal)).toEqual([])
    await registry.remove('again.1') // an older life: not this one
    await journal.append(2)
    const client = await ownConnection(server.url())
    expect((await storedEntries(client, 'again')).map(({ value, epoch }) => [value, epoch])).toEqual([[2, 4]])
    const other = await process()
    await expect(openStorage(other, 'again')).rejects.toThrow(OwnedElsewhereError)
    await expect(other.forget('again.2')).rejects.toThrow(OwnedElsewhereError)
    await expect(other.keep('again.2', kept)).rejects.toBeInstanceOf(NotOwnerError)
    await second.close()
    await expect(openStorage(registry, 'again')).rejects.toThrow('there is another namespace of this name (again.2)')
  })

  it('counts its lease from before the renewal was sent, by whichever clock is later', async () => {
    const times = { monotonic: 0, wall: 1_000_000 }
    const clock = {
      ...SLEEPER,
      monotonicNow: () => times.monotonic,
      wallNow: () => times.wall,
      wallSleep: SLEEPER.wallSleep,
    }
    const { lease } = await process({ clock, leaseMs: 1_000 })
    times.monotonic += 949
    expect(lease.holds()).toBe(true)
    times.monotonic += 1
    expect(lease.holds()).toBe(false)
    times.monotonic -= 950
    times.wall += 950 // the machine was suspended
    expect(lease.holds()).toBe(false)
  })

  it('has one owner although that is stopped and goes on, each time', () => stopAndGo(server, 3))
})
