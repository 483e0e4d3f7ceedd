import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { OwnedElsewhereError } from '../../src/database/database-error.ts'
import type { DatabaseRegistry } from '../../src/database/database-registry.ts'
import { eventually } from '../helpers/eventually.ts'
import { allEntries } from '../helpers/exercise-journal.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection } from './rows.ts'
import { linesLog, openRegistry, openStorage, SLEEPER, START } from './workbench.ts'

/** As if this version read one format, and the next one that and its own. */
const [OLDER, NEWER] = [
  { version: '1.0.0', formats: { oldest: 4, newest: 4 } },
  { version: '2.0.0', formats: { oldest: 4, newest: 5 } },
]
const REFUSAL =
  /it is of format 5, written by version 2\.0\.0, and this version reads formats 4 to 4\. Fix: start the version that wrote it, or a newer one\.$/

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** A process that ends with the test, in a fleet that has a schema of its own. */
async function process(schema: string, wish: Parameters<typeof openRegistry>[1]): Promise<DatabaseRegistry> {
  const registry = await openRegistry(server.url(), { schema, ...wish })
  onTestFinished(() => registry.close())
  return registry
}

async function standingOf(schema: string, name: string) {
  const client = await ownConnection(server.url())
  const { rows } = await client.query(`select owner, epoch, head, manifest from ${schema}.namespace where name = $1`, [
    name,
  ])
  return rows[0]
}

describe.skipIf(noPostgres !== undefined)(`versions side by side${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it('write the format that all of them read; when no older one is left, the next rewrite raises it', async () => {
    const [older, newer] = [await process('rolled', OLDER), await process('rolled', NEWER)]
    const storage = await openStorage(newer, 'acme')
    await storage.begin('2.0.0')
    const journal = await storage.journal<number>('ledger')
    await journal.append(1)
    await storage.manifest.raiseFormat()
    await journal.rewrite([1, 2])
    expect(storage.manifest.data.format).toBe(4)
    await storage.close()

    const back = await openStorage(older, 'acme')
    expect(await allEntries(await back.journal<number>('ledger'))).toEqual([1, 2])
    await (await back.journal<number>('ledger')).append(3)
    await older.close()
    const again = await eventually(() => openStorage(newer, 'acme'))
    expect(again.manifest.data.format).toBe(4)
    await again.begin('2.0.0')
    await again.manifest.raiseFormat()
    expect(again.manifest.data.format).toBe(5)
    await (await again.journal<number>('ledger')).append(4)
    await again.close()

    const before = await standingOf('rolled', 'acme')
    const late = await process('rolled', OLDER)
    await expect(openStorage(late, 'acme')).rejects.toThrow(REFUSAL)
    const { database } = late
    expect(await database.query(database.statements.take, ['acme', late.id])).toEqual([]) // as if it were raised after the look
    expect(await standingOf('rolled', 'acme')).toEqual(before)
    const kept = await openStorage(newer, 'acme')
    expect(await allEntries(await kept.journal<number>('ledger'))).toEqual([1, 2, 3, 4])
  })

  it('do not wait for an older one that is dead', async () => {
    const newer = await process('dead', NEWER)
    await process('dead', { ...OLDER, clock: SLEEPER, leaseMs: 1_000 })
    const storage = await openStorage(newer, 'acme')
    await storage.manifest.raiseFormat()
    expect(storage.manifest.data.format).toBe(4)
    await eventually(async () => {
      await storage.manifest.raiseFormat()
      expect(storage.manifest.data.format).toBe(5)
    })
  })

  it('leave what they do not read to one that serves it, and to nobody when that is gone', async () => {
    const newer = await process('lead', NEWER)
    const storage = await newer.open(undefined, { ...START, log: linesLog() })
    await storage.begin('2.0.0')
    expect(storage.manifest.data.format).toBe(5)
    const older = await process('lead', OLDER)
    const take = () => older.open(undefined, { ...START, log: linesLog() })
    await expect(take()).rejects.toThrow(OwnedElsewhereError)
    await newer.close()
    const before = await standingOf('lead', 'default')
    await expect(take()).rejects.toThrow(REFUSAL)
    expect(await standingOf('lead', 'default')).toEqual(before)
  })

  it('of which one reads no format of the others writes its own', async () => {
    await process('apart', OLDER)
    const apart = await process('apart', { version: '3.0.0', formats: { oldest: 5, newest: 6 } })
    const storage = await openStorage(apart, 'acme')
    expect(storage.manifest.data.format).toBe(5)
  })
})
