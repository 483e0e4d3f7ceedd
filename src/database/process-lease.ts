import type { Client } from 'pg'
import { SeededRandom } from '../support/random.ts'
import { abortController } from '../support/waiting.ts'
import type { Database } from './database.ts'
import { DatabaseError, databaseFailure } from './database-error.ts'
import type { NamespaceWriter } from './namespace-writer.ts'

/** Length of a lease in milliseconds: a namespace of a dead process can be taken after it. */
const LEASE_MS = 2_000
/** A lease is renewed this often while it lasts. */
const RENEWALS = 4
/** Part of the lease that is not used, since the clocks of two machines do not run equally fast. */
const MARGIN = 1 / 20

/** A process as the others see it. */
export interface ProcessOptions {
  /** Where it listens to the other processes. */
  address: string
  /** Version of the package. */
  version: string
  /** Formats of namespaces that it reads. */
  formats: { oldest: number; newest: number }
  /** Length of the lease in milliseconds. Default 2,000. */
  leaseMs?: number
}

/**
 * The right of this process to own namespaces. It is dead once that is written, which others do when its lease has expired by the
 * database's time: only then are its namespaces taken. It counts its own lease from before it sent the renewal, by the monotonic clock,
 * which stands still while a machine is suspended, and by the wall clock, which can be set; the one that expires first counts.
 */
export class ProcessLease {
  /** Random: no other process ever has it. */
  readonly id = SeededRandom.freshUuid()
  readonly formats: ProcessOptions['formats']
  readonly #database: Database
  readonly #leaseMs: number
  readonly #dead = abortController()
  readonly #closing = abortController()
  readonly #writers = new Map<string, NamespaceWriter>()
  readonly #unsubscribe: () => void
  #connection: Client | undefined
  /** Times directly before the last renewal that was carried out was sent. */
  #renewed: Times
  /** Start of the server that carried out the last renewal: another one may have lost what the last one acknowledged. */
  #server: unknown
  #renewing: Promise<void> = Promise.resolve()
  /** The renewal under way. Never rejects. */
  #underWay: Promise<void> | undefined

  private constructor(database: Database, { formats, leaseMs = LEASE_MS }: ProcessOptions) {
    this.#database = database
    this.formats = formats
    this.#leaseMs = leaseMs
    this.#renewed = this.#times()
    this.#unsubscribe = database.onAway((since) => {
      if (since === undefined) void this.#verify(this.#server)
    })
  }

  /** Registers this process and renews its lease from then on. Throws DatabaseError. */
  static async register(database: Database, options: ProcessOptions): Promise<ProcessLease> {
    const lease = new ProcessLease(database, options)
    const { address, version, formats } = options
    try {
      await database.query(database.statements.removeDead)
      lease.#renewed = lease.#times()
      const own = [lease.id, address, version, formats.oldest, formats.newest, lease.#leaseMs]
      const [registered] = await database.query(database.statements.register, own)
      lease.#server = registered?.server
    } catch (error) {
      throw databaseFailure(database.place, error)
    }
    lease.#renewing = lease.#renewAll()
    return lease
  }

  /** Aborts when this process is dead for the others: they may own what it owned. It needs another lease. */
  get dead(): AbortSignal {
    return this.#dead.signal
  }

  /** @returns true if no other process can own a namespace of this one now */
  holds(): boolean {
    if (this.dead.aborted) return false
    const { monotonic, wall } = this.#times()
    const elapsed = Math.max(monotonic - this.#renewed.monotonic, wall - this.#renewed.wall)
    return elapsed < this.#leaseMs * (1 - MARGIN)
  }

  /** Renews it now, unless that is under way. @returns true if it holds afterwards */
  async renewed(): Promise<boolean> {
    if (this.#closing.signal.aborted || this.dead.aborted) return false
    this.#underWay ??= this.#renew().then(() => {
      this.#underWay = undefined
    })
    await this.#underWay
    return this.holds()
  }

  /** From now on the namespace of the writer is lost when this process is dead, or the database has lost something of it. */
  own(writer: NamespaceWriter): void {
    const { name } = writer.ownership
    this.#writers.set(name, writer)
    if (this.dead.aborted) writer.lose(DEAD)
  }

  /** @returns true if this process writes to the namespace */
  writes(name: string): boolean {
    return this.#writers.has(name)
  }

  /** Call it when the namespace of the writer was given back or lost. */
  disown(writer: NamespaceWriter): void {
    const { name } = writer.ownership
    if (this.#writers.get(name) === writer) this.#writers.delete(name)
  }

  /** Ends the lease: what this process still owns can be taken at once. Never rejects. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return this.#renewing
    this.#closing.abort()
    this.#unsubscribe()
    await this.#renewing
    await this.#underWay
    if (!this.dead.aborted) {
      await this.#database.query(this.#database.statements.endProcess, [this.id]).catch(() => undefined) // then it expires
      this.#die('it has ended')
    }
    await this.#disconnect()
  }

  async #renewAll(): Promise<void> {
    const { signal } = this.#closing
    const { clock } = this.#database
    while (!signal.aborted && !this.dead.aborted) {
      await clock.wallSleep(this.#leaseMs / RENEWALS, signal)
      if (!signal.aborted) await this.renewed()
    }
  }

  /** Its connection has nothing else to do, and its own limit: the lease must not wait for others' statements. */
  async #renew(): Promise<void> {
    try {
      this.#connection ??= await this.#database.ownConnection(this.#leaseMs)
      const sent = this.#times()
      const { rows } = await this.#connection.query(this.#database.statements.renew, [this.id, this.#leaseMs])
      const [row] = rows
      if (!row) return this.#die(DEAD)
      this.#renewed = sent
      this.#database.answered()
      if (this.#server !== row.server) void this.#verify(row.server) // must not hold up the next renewal
    } catch (error) {
      this.#database.silent(error)
      await this.#disconnect()
    }
  }

  /** Asks the database if it still has all that it acknowledged: after a failover it may not. `server`: the start of the server asked. */
  async #verify(server: unknown): Promise<void> {
    const heads = [...this.#writers.values()].map((writer) => [writer, writer.head] as const)
    const rows = await this.#database.query(this.#database.statements.ownedBy, [this.id]).catch(() => undefined)
    if (!rows) return // the next renewal leads here again
    this.#server = server
    const found = new Map(rows.map((row) => [row.name, row]))
    for (const [writer, head] of heads) {
      const { name } = writer.ownership
      if (this.#writers.get(name) === writer) writer.verify(found.get(name), head)
    }
  }

  #die(reason: string): void {
    if (this.dead.aborted) return
    this.#dead.abort(new DatabaseError(this.#database.place, reason, 'start the process again'))
    for (const writer of this.#writers.values()) writer.lose(reason)
    this.#writers.clear()
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    if (!connection) return
    // A server that does not answer does not close the connection either.
    await Promise.race([
      connection.end().catch(() => undefined),
      this.#database.clock.wallSleep(this.#leaseMs / RENEWALS),
    ])
  }

  #times(): Times {
    const { clock } = this.#database
    return { monotonic: clock.monotonicNow(), wall: clock.wallNow() }
  }
}

const DEAD = 'the lease of this process expired, and another process declared it dead'

interface Times {
  monotonic: number
  wall: number
}
