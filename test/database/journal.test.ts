import { afterAll, beforeAll, describe } from 'vitest'
import type { DatabaseRegistry } from '../../src/database/database-registry.ts'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { exerciseJournal, type JournalPlace } from '../helpers/exercise-journal.ts'
import { noPgBouncer, noPostgres, PgBouncer, Postgres } from '../helpers/postgres.ts'
import { openRegistry, openStorage } from './workbench.ts'

let server: Postgres
let bouncer: PgBouncer | undefined
const registries: DatabaseRegistry[] = []

beforeAll(async () => {
  if (noPostgres === undefined) server = await Postgres.start()
  if (noPgBouncer === undefined) bouncer = await PgBouncer.start(server)
})

afterAll(async () => {
  for (const registry of registries) await registry.close()
  await bouncer?.stop()
  await server?.stop()
})

let count = 0

/** Journals of namespaces in a registry: each is closed with its storage, and opened with it. */
function placesIn(registry: () => Promise<DatabaseRegistry>): () => Promise<JournalPlace> {
  return async () => {
    const name = `ns-${++count}`
    let storage: PostgresStorage | undefined
    return {
      open: async () => {
        await storage?.close()
        storage = await openStorage(await registry(), name)
        return storage.journal<unknown>('ledger')
      },
    }
  }
}

/** One registry for all tests of a group. */
function registryAt(url: () => string): () => Promise<DatabaseRegistry> {
  let opened: Promise<DatabaseRegistry> | undefined
  return () => {
    opened ??= openRegistry(url()).then((registry) => {
      registries.push(registry)
      return registry
    })
    return opened
  }
}

describe.skipIf(noPostgres !== undefined)(`a journal in PostgreSQL${noPostgres ? ` (${noPostgres})` : ''}`, () => {
  exerciseJournal({ place: placesIn(registryAt(() => server.url())), stories: 25 })
})

describe.skipIf(noPgBouncer !== undefined)(
  `a journal in PostgreSQL behind PgBouncer in transaction mode${noPgBouncer ? ` (${noPgBouncer})` : ''}`,
  () => {
    exerciseJournal({ place: placesIn(registryAt(() => server.url('postgres', bouncer?.port))), stories: 10 })
  },
)
