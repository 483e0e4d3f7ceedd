import { NotKeptError } from '../domain/ports/journal.ts'

/** The database, or what it holds, cannot be used. The message is one line: the place, the fault and the fix. */
export class DatabaseError extends NotKeptError {
  override readonly name: string = 'DatabaseError'
  override readonly code: string = 'database_unusable'

  constructor(place: string, message: string, fix: string, cause?: unknown) {
    super(`${place}: ${message}. Fix: ${fix}.`, { cause })
  }
}

/** The namespace belongs to another process that is alive. */
export class OwnedElsewhereError extends DatabaseError {
  override readonly name = 'OwnedElsewhereError'
  override readonly code = 'owned_elsewhere'
  /** Where that process listens to the others. */
  readonly address: string

  constructor(place: string, address: string) {
    super(place, `the process at ${address} has it`, 'ask that process, or wait until it has ended')
    this.address = address
  }
}

/** Acknowledged rows are not as they were written. */
export function damagedRows(place: string, what: string): DatabaseError {
  const fix = 'restore the database from a backup, or delete this namespace'
  return new DatabaseError(place, `${what}; what was acknowledged is damaged, and nothing was changed`, fix)
}

/** An error as `pg` throws it: of the server if it has a severity, of the connection otherwise. */
interface PgError extends Error {
  code?: string
  severity?: string
}

/** Beginnings of SQLSTATE codes that concern the statement itself: the same statement gets them again. */
const OF_THE_STATEMENT = ['22', '23', '54']

/** @returns true if the server refused a statement for good: it was not carried out and, repeated, never will be */
export function isRefusal(error: unknown): boolean {
  const { code = '', severity } = error as PgError
  return severity === 'ERROR' && OF_THE_STATEMENT.some((beginning) => code.startsWith(beginning))
}

const USER_FIX = 'correct user and password in --database'

/** By SQLSTATE, by its first two characters, or by the code of a system call. */
const MEANING: Record<string, [what: string, fix: string]> = {
  '28': ['it refused the user or the password', USER_FIX],
  '3D': ['there is no such database', 'create it (CREATE DATABASE), or name another one in --database'],
  '42501': ['its user lacks the right to do this', 'GRANT CREATE ON DATABASE to the user, or let it own the schema'],
  '42P01': ['a table of the sandbox is missing', 'restore the schema from a backup, or drop what is left of it'],
  '53100': ['its disk is full', 'make room on it; nothing that was acknowledged is lost'],
  '53300': ['it has too many connections', 'raise max_connections, or put PgBouncer before it'],
  '57P03': ['it is starting or stopping', 'wait until it answers'],
  '25006': ['it takes no writes: it is a standby or read-only', 'name the primary in --database'],
  ECONNREFUSED: ['nothing listens there', 'start PostgreSQL, or correct host and port in --database'],
  ENOTFOUND: ['its host has no address', 'correct the host in --database'],
  EAI_AGAIN: ['its host has no address at present', 'correct the host in --database, or see to the name server'],
  ENOENT: ['there is no such socket', 'start PostgreSQL, or correct the host in --database'],
  EACCES: ['its socket must not be used by this user', 'give this user the right to'],
}

/** Converts an error of a statement or a connection to one that names the fix. Other errors of this room are returned unchanged. */
export function databaseFailure(place: string, error: unknown): Error {
  if (error instanceof NotKeptError) return error
  const { code = '', message } = error as PgError
  const known = MEANING[code] ?? MEANING[code.slice(0, 2)]
  const text = message.replaceAll(/\s+/g, ' ').trim() || code || 'no reason given'
  const what = known ? `${known[0]} (${text})` : `it cannot be used (${text})`
  return new DatabaseError(place, what, known?.[1] ?? 'see to it, or name another one in --database', error)
}
