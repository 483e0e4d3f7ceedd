import { createHash, randomUUID } from 'node:crypto'
import type { SandboxOptions } from '../../src/index.ts'
import { createDatabase } from './postgres.ts'

/** Address of a database server on which sandboxes of tests keep their state, in a database each; undefined: as the tests ask for. */
const SERVER = process.env.TEST_ON_DATABASE

/** The database in place of this data directory; undefined if tests run without one. */
export function databaseFor(dataDir: string): string | undefined {
  return SERVER && createDatabase(SERVER, `t${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`)
}

/** Options with a database in place of a data directory, or of memory, if tests run on one: same directory, same database. */
export function onDatabase(options: SandboxOptions): SandboxOptions {
  const { dataDir = randomUUID(), ...others } = options
  const database = others.database ?? databaseFor(dataDir)
  return database === undefined ? options : { ...others, database }
}
