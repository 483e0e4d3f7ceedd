import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Database } from '../../src/database/database.ts'
import { DatabaseError } from '../../src/database/database-error.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { allEntries } from '../helpers/exercise-journal.ts'
import { noPostgres, Postgres } from '../helpers/postgres.ts'
import { ownConnection } from './rows.ts'
import { linesLog, openRegistry, openStorage } from './workbench.ts'

let server: Postgres

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
})
afterAll(() => server?.stop())

/** The sentence with which a database is refused. */
async function refusal(url: string): Promise<string> {
  const options = { log: linesLog(), clock: new SandboxClock(), version: '0.0.0' }
  const error = await openDatabase(url, options).then(
    () => expect.fail('it was opened'),
    (reason: Error) => reason,
  )
  expect(error).toBeInstanceOf(DatabaseError)
  expect(error.message).toMatch(/^.+: .+\. Fix: .+\.$/)
  expect(error.message).not.toMatch(/\n|hidden/)
  return error.message
}

describe.skipIf(noPostgres !== undefined)(`a database is refused${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  it.each([
    ['that loses what it acknowledged', 'synchronous_commit = off', 'synchronous_commit is off, so a crash'],
    ['that takes no writes', 'default_transaction_read_only = on', 'its sessions are read-only. Fix: ALTER ROLE'],
  ])('%s', async (_, setting, message) => {
    const client = await ownConnection(server.url())
    await client.query('create database unfit')
    await client.query(`alter database unfit set ${setting}`)
    expect(await refusal(server.url('unfit'))).toContain(message)
    await client.query('drop database unfit with (force)')
  })

  it('that is not there, or that nobody can reach', async () => {
    expect(await refusal(server.url('missing'))).toMatch(
      /^database missing on 127.0.0.1:\d+: there is no such database/,
    )
    expect(await refusal('postgres://postgres:hidden@127.0.0.1:1/x')).toMatch(
      /nothing listens there .* Fix: start PostgreSQL/,
    )
    for (const url of ['acme', 'http://acme:hidden@acme/x', 'postgres://acme:hidden@[', '']) {
      expect(await refusal(url)).toMatch(/^--database: it is not the URL of a PostgreSQL database/)
    }
  })

  it('whose tables are of a newer version', async () => {
    const options = { url: server.url(), schema: 'Other "one"', clock: new SandboxClock(), log: linesLog() }
    const opened = await Promise.all([1, 2, 3].map(() => Database.open(options))) // at once: the tables are made once
    for (const database of opened) await database.close()
    await (await ownConnection(server.url())).query(`update "Other ""one""".fleet set schema = 2`)
    await expect(Database.open(options)).rejects.toThrow(
      /its tables in the schema Other "one" are of version 2, and this version of the sandbox reads 1\. Fix: /,
    )
  })

  it('of which a namespace has a newer format', async () => {
    const registry = await openRegistry(server.url())
    onTestFinished(() => registry.close())
    await (await openStorage(registry, 'newer')).close()
    const client = await ownConnection(server.url())
    await client.query(`update yield_sandbox.namespace set manifest = manifest || '{"format": 9}' where name = 'newer'`)
    await expect(openStorage(registry, 'newer')).rejects.toThrow(/it is of format 9, .* reads formats 4 to 4\. Fix: /)
  })

  it.each([
    ['a row is altered', `update E set bytes = '9' where seq = 3`, /row 3 is altered/],
    ['a row is missing', `delete from E where seq = 3`, /row 4 is altered, or one before it is missing/],
    ['the first row is missing', `delete from E where seq = 2`, /row 3 is altered, or one before/],
    ['the last row is missing', `delete from E where seq = 4`, /the rows after 3, up to 4, are missing/],
    ['all are missing', `delete from E`, /the rows after 0, up to 4, are missing/],
    [
      'a row is from elsewhere',
      `insert into E select namespace, journal, generation, 9, epoch, crc, bytes from E where seq = 4`,
      /row 9 is behind the last one, 4/,
    ],
    ['its extent is missing', `update N set generations = '{}'`, /the extent of its journal ledger is missing/],
  ])('of which %s', async (what, damage, message) => {
    const registry = await openRegistry(server.url())
    onTestFinished(() => registry.close())
    const name = what.replaceAll(' ', '-')
    const storage = await openStorage(registry, name)
    const journal = await storage.journal<number>('ledger')
    for (const n of [1, 2, 3]) await journal.append(n)
    await storage.close()
    const client = await ownConnection(server.url())
    await client.query(
      damage
        .replace('update E set bytes', `update yield_sandbox.entry set bytes`)
        .replace(/\b(from|into) E\b/g, '$1 yield_sandbox.entry')
        .replace('update N', 'update yield_sandbox.namespace')
        .concat(damage.includes(' where ') ? ' and ' : ' where ')
        .concat(damage.includes(' N ') ? `name = '${name}'` : `namespace = '${name}'`),
    )
    const again = await openStorage(registry, name)
    const error = await again
      .journal('ledger')
      .then(allEntries)
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DatabaseError)
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).toMatch(/is damaged, and nothing was changed\. Fix: restore the database/)
    expect(again.lost.aborted).toBe(false)
  })

  it('that is a standby', async () => {
    await server.kill()
    await server.run({ standby: true })
    expect(await refusal(server.url())).toContain('it is a standby, which takes no writes. Fix: name the primary')
  })
})
