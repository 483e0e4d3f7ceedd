import { hostname } from 'node:os'
import type { OpenDatabase } from '../domain/ports/namespace-registry.ts'
import { DatabaseRegistry } from './database-registry.ts'

/** Formats of a namespace's entries and manifest that this version reads: those of a data directory. It writes the newest. */
const FORMATS = { oldest: 4, newest: 4 }

/**
 * Opens the namespaces of a database. Rejects with DatabaseError, one sentence that names the fix and not the URL's password, if the
 * database cannot be used, and then leaves no connection open.
 */
export const openDatabase: OpenDatabase = (url, { address = `${hostname()}:${process.pid}`, ...options }) =>
  DatabaseRegistry.open({ url, address, formats: FORMATS, ...options })
