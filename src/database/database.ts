import type { Client, ClientBase, Pool } from 'pg'
import type { Logger } from '../support/logger.ts'
import { DatabaseError, databaseFailure, isRefusal } from './database-error.ts'
import { makeSchema } from './schema.ts'
import { type Statements, statementsFor } from './statements.ts'

/** Connections for statements of all namespaces. */
const CONNECTIONS = 8
/** Milliseconds. A statement that takes longer is given up with its connection: its outcome is then unknown. */
const STATEMENT_TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5_000
/** Milliseconds between two attempts while the database does not answer: the first, and the longest. */
export const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 1_000]
/** Milliseconds for which a refused write counts: as long as one waits to be written, it is tried again before. */
const REFUSED_MS = 2 * LONGEST_PAUSE_MS
/** Name of the schema with the tables. */
const SCHEMA = 'yield_sandbox'

/** The times that this room needs; the sandbox clock has them. */
export interface DatabaseClock {
  /** Real time in milliseconds since the Unix epoch. */
  wallNow(): number
  /** Milliseconds that never go back, since an arbitrary moment. */
  monotonicNow(): number
  /** Resolves after milliseconds of real time, or as soon as the signal is aborted. */
  wallSleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** A row as `pg` gives it: a bigint is a string. */
export type Row = Record<string, unknown>

/** A PostgreSQL database with the tables of a team's sandbox. */
export class Database {
  /** For messages: name of the database, host and port. */
  readonly place: string
  readonly statements: Statements
  readonly clock: DatabaseClock
  readonly log: Logger
  readonly #url: string
  readonly #pool: Pool
  readonly #newClient: (config: object) => Client
  readonly #listeners = new Set<(since: number | undefined) => void>()
  #awaySince: number | undefined
  /** Moment of the last write that was refused though the database answers, as when its disk is full. */
  #refusedAt: number | undefined
  #closed: Promise<void> | undefined

  private constructor({ url, place, statements, clock, log, pool, newClient }: DatabaseParts) {
    this.#url = url
    this.place = place
    this.statements = statements
    this.clock = clock
    this.log = log
    this.#pool = pool
    this.#newClient = newClient
  }

  /**
   * Connects and makes the tables if there are none. Throws DatabaseError if the database cannot be reached, cannot be written, loses
   * acknowledged writes by its settings, or has tables of a newer version.
   */
  static async open({ url, schema = SCHEMA, clock, log }: DatabaseOptions): Promise<Database> {
    const { default: pg } = await import('pg')
    const { database, host, port } = new pg.Client(connectionTo(url))
    const place = `database ${database} on ${host}:${port}`
    const pool = new pg.Pool({ ...connectionTo(url), max: CONNECTIONS, query_timeout: STATEMENT_TIMEOUT_MS })
    const statements = statementsFor(schema)
    const newClient = (config: object) => new pg.Client(config)
    const opened = new Database({ url, place, statements, clock, log, pool, newClient })
    pool.on('error', () => opened.#look()) // an idle connection that ends is replaced by the next statement's
    try {
      await opened.transaction(async (client) => {
        await checkSettings(client, place)
        await makeSchema(client, { place, schema })
      })
      return opened
    } catch (error) {
      await opened.close()
      throw databaseFailure(place, error)
    }
  }

  /** Wall-clock time since which the database has not answered, in milliseconds since the Unix epoch; undefined while it answers. */
  get awaySince(): number | undefined {
    return this.#awaySince
  }

  /** Calls back when the database stops to answer, with the moment, and when it answers again, with undefined. Returns the unsubscriber. */
  onAway(listener: (since: number | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Runs one statement by itself; the rows of its result. Throws the error of `pg`: then the outcome may be unknown. `stores`: its success
   * shows that the database takes writes.
   */
  async query(text: string, values: readonly unknown[] = [], { stores = false } = {}): Promise<Row[]> {
    try {
      const { rows } = await this.#pool.query(text, [...values])
      if (stores) this.#refusedAt = undefined
      this.answered()
      return rows
    } catch (error) {
      if (!isRefusal(error)) this.silent(error)
      throw error
    }
  }

  /**
   * Runs a statement that may be repeated, as often as it takes until it is answered. No rows if the signal is aborted before. Throws
   * DatabaseError if it is refused for good.
   */
  async insist(text: string, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.query(text, values)
      } catch (error) {
        if (isRefusal(error)) throw databaseFailure(this.place, error)
        await this.clock.wallSleep(pause, signal)
      }
    }
    return []
  }

  /** Repeats a statement that deletes some rows and returns them, until none is left or the signal is aborted. Throws as {@link insist}. */
  async deleteAll(statement: string, values: readonly unknown[], signal: AbortSignal): Promise<void> {
    while ((await this.insist(statement, values, signal)).length > 0);
  }

  /** Runs statements in one transaction. Throws what `work` throws. */
  async transaction<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect()
    let broken = true
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      broken = false
      return result
    } finally {
      client.release(broken) // closing the connection rolls back
    }
  }

  /** Opens a connection that no statement of others can hold up; each statement on it is given up after this number of milliseconds. */
  async ownConnection(timeoutMs: number): Promise<Client> {
    const limits = { query_timeout: timeoutMs, connectionTimeoutMillis: timeoutMs }
    const client = this.#newClient({ ...connectionTo(this.#url), ...limits })
    client.on('error', () => this.#look()) // the next statement on it rejects
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
  }

  /** Call it when the database answered on a connection of one's own. */
  answered(): void {
    if (this.#awaySince === undefined) return
    if (this.#refusedAt !== undefined && this.clock.monotonicNow() - this.#refusedAt < REFUSED_MS) return
    const ms = this.clock.wallNow() - this.#awaySince
    this.#awaySince = undefined
    this.log.info({ database: this.place, away_ms: ms }, `${this.place}: it answers again`)
    for (const listener of this.#listeners) listener(undefined)
  }

  /** Call it when the database did not answer on a connection of one's own. */
  silent(error: unknown): void {
    if ((error as { severity?: string }).severity === 'ERROR') this.#refusedAt = this.clock.monotonicNow()
    if (this.#awaySince !== undefined || this.#closed) return
    this.#awaySince = this.clock.wallNow()
    this.log.warn(
      { database: this.place },
      `${databaseFailure(this.place, error).message} Writes wait until it answers.`,
    )
    for (const listener of this.#listeners) listener(this.#awaySince)
  }

  /** Finds out at once if the database has gone, after an idle connection to it ended: a write that came next would wait. */
  #look(): void {
    if (!this.#closed) void this.query('select').catch(() => undefined)
  }

  /** Ends all connections. Those of a database that does not answer are not waited for. May be called again. */
  close(): Promise<void> {
    const ended = () => this.#pool.end()
    this.#closed ??=
      this.#awaySince === undefined ? ended() : Promise.race([ended(), this.clock.wallSleep(LONGEST_PAUSE_MS)])
    return this.#closed
  }
}

const FORM = 'postgres://user:password@host:port/database'

/** Options of opening a database. */
export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
  url: string
  /** PostgreSQL schema of the tables. Default `yield_sandbox`. */
  schema?: string
  clock: DatabaseClock
  log: Logger
}

interface DatabaseParts {
  url: string
  place: string
  statements: Statements
  clock: DatabaseClock
  log: Logger
  pool: Pool
  newClient: (config: object) => Client
}

function connectionTo(url: string) {
  if (!/^(postgres|postgresql|socket):\/\/[^\s]*$/.test(url) || !URL.canParse(url)) {
    throw new DatabaseError('--database', 'it is not the URL of a PostgreSQL database', `give ${FORM}`)
  }
  return {
    connectionString: url,
    application_name: 'yield-sandbox',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  }
}

/** Throws DatabaseError if what the database acknowledges can be lost, or if it takes no writes. */
async function checkSettings(client: ClientBase, place: string): Promise<void> {
  const { rows } = await client.query(
    `select current_setting('synchronous_commit') as synchronous_commit, pg_is_in_recovery() as standby,
      current_setting('transaction_read_only') as read_only`,
  )
  const [{ synchronous_commit, standby, read_only }] = rows
  if (standby)
    throw new DatabaseError(place, 'it is a standby, which takes no writes', 'name the primary in --database')
  if (read_only === 'on') {
    const fix = 'ALTER ROLE … SET default_transaction_read_only = off for its user, or name another database'
    throw new DatabaseError(place, 'its sessions are read-only', fix)
  }
  if (synchronous_commit !== 'off') return
  const what = 'synchronous_commit is off, so a crash of the database loses writes that it acknowledged'
  throw new DatabaseError(
    place,
    what,
    'set synchronous_commit to on for its user (ALTER ROLE … SET synchronous_commit = on)',
  )
}
