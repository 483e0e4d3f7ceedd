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

/** Milliseconds that a wall clock falls behind the monotonic one only by being set. */
const SET_BACK_MS = 100

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
  /** The comparison of what another server has, while it is under way. Never rejects. */
  #verifying: Promise<void> | undefined
  /** See {@link ahead}; undefined before the first answer. */
  #ahead: number | undefined
  /** Times directly before the question to which the database last told its own. */
  #compared: Times
  #renewing: Promise<void> = Promise.resolve()
  /** The renewal under way. Never rejects. */
  #underWay: Promise<void> | undefined

  private constructor(database: Database, { formats, leaseMs = LEASE_MS }: ProcessOptions) {
    this.#database = database
    this.formats = formats
    this.#leaseMs = leaseMs
    this.#renewed = this.#times()
    this.#compared = this.#renewed
    this.#unsubscribe = database.onAway((since) => {
      if (since === undefined) void this.#verify()
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
      lease.#compare(lease.#renewed, registered?.now)
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

  /** Milliseconds by which the database's time is ahead of this machine's wall clock, which may have been set back since it was compared. */
  get ahead(): number {
    const { monotonic, wall } = this.#times()
    const back = monotonic - this.#compared.monotonic - (wall - this.#compared.wall)
    return (this.#ahead ?? 0) + (back > SET_BACK_MS ? back : 0)
  }

  /** The newest format that every living process reads: older processes must be able to take what this one leaves. Throws as `query`. */
  async formatToWrite(): Promise<number> {
    const [row] = await this.#database.query(this.#database.statements.commonFormat)
    const { oldest, newest } = this.formats
    return Math.max(oldest, Math.min(newest, Number(row?.format ?? newest)))
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
    await this.#renewOnce()
    if (this.#verifying) await Promise.race([this.#verifying, this.#database.clock.wallSleep(this.#leaseMs)])
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

  /** Lets the lease expire, and loses at once what this process owns: nothing waits any more for a database that does not answer. */
  giveUp(): void {
    this.#die('this process has ended without an answer of the database')
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
      if (!signal.aborted) await this.#renewOnce()
    }
  }

  #renewOnce(): Promise<void> {
    this.#underWay ??= this.#renew().then(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Its connection has nothing else to do, and its own limit: the lease must not wait for others' statements. */
  async #renew(): Promise<void> {
    try {
      this.#connection ??= await this.#database.ownConnection(this.#leaseMs)
      const sent = this.#times()
      const { rows } = await this.#connection.query(this.#database.statements.renew, [this.id, this.#leaseMs])
      const [row] = rows
      if (!row) return await this.#lapse()
      this.#compare(sent, row.now)
      if (this.#server === row.server) this.#renewed = sent
      else this.#follow(row.server, sent)
      this.#database.answered()
    } catch (error) {
      this.#database.silent(error)
      await this.#disconnect()
    }
  }

  /** Another server answered: the lease holds once it is known what that one has. This must not hold up the next renewal. */
  #follow(server: unknown, sent: Times): void {
    this.#renewed = LONG_AGO
    this.#verifying ??= this.#verify().then((verified) => {
      this.#verifying = undefined
      if (!verified) return // the next renewal leads here again
      this.#server = server
      this.#renewed = sent
    })
  }

  /**
   * Asks the database if it still has all that it acknowledged, which it may not after a failover; what it has lost is lost here, too.
   * @returns false if it does not answer
   */
  async #verify(): Promise<boolean> {
    const heads = [...this.#writers.values()].map((writer) => [writer, writer.head] as const)
    const names = heads.map(([{ ownership }]) => ownership.name)
    const rows = await this.#database.query(this.#database.statements.standing, [names]).catch(() => undefined)
    if (!rows) return false
    const found = new Map(rows.map((row) => [row.name, row]))
    for (const [writer, head] of heads) {
      const { name } = writer.ownership
      if (this.#writers.get(name) === writer) writer.verify(found.get(name), head)
    }
    return true
  }

  /** The database has no living process of this id: it was declared dead, or the database is an older one that never knew it. */
  async #lapse(): Promise<void> {
    await this.#verify()
    this.#die(DEAD)
  }

  /** Notes the database's time, in milliseconds since the Unix epoch: it told it at some moment since these times. */
  #compare(sent: Times, now: unknown): void {
    this.#compared = sent
    const took = this.#times().monotonic - sent.monotonic
    const most = Number(now) - sent.wall
    const least = most - took
    // What agrees with earlier answers stays: it would only shift by what the network does.
    if (this.#ahead === undefined || this.#ahead < least || this.#ahead > most) this.#ahead = most - took / 2
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

const LONG_AGO: Times = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
