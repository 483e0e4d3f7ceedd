import { randomBytes } from 'node:crypto'
import { NotOwnerError } from '../domain/ports/journal.ts'
import {
  type FoundNamespace,
  type KeptNamespace,
  type LivingProcess,
  type LocatedNamespace,
  type SharedBase,
  type SharedRegistry,
  type StorageOptions,
  takesOthers,
} from '../domain/ports/namespace-registry.ts'
import type { StorageStart } from '../domain/ports/namespace-storage.ts'
import { Database, type DatabaseOptions, type Row } from './database.ts'
import { DatabaseError, databaseFailure, OwnedElsewhereError } from './database-error.ts'
import { newManifest, PostgresStorage, takenIn } from './postgres-storage.ts'
import { ProcessLease, type ProcessOptions } from './process-lease.ts'

/** Name of the namespace that is always there. */
const DEFAULT = 'default'
/** Attempts to take a namespace whose state changes meanwhile. */
const ATTEMPTS = 10
/** Milliseconds. The lease of a process that has died expires in this time. */
const DEATH_PAUSE_MS = 250
/** Number of renewals that can arrive of a process that has died. More of them are of one that is alive. */
const RENEWALS_OF_DEAD = 1
/** Attempts while the lease of its owner, of which it is not known if it lives, has not expired: 3 seconds, longer than a lease. */
const ATTEMPTS_WHILE_OWNED = 12

/** The namespaces in a database. Each belongs to one process at a time, which has a lease. */
export class DatabaseRegistry implements SharedRegistry {
  readonly flag = '--database'
  readonly lease: ProcessLease
  readonly database: Database
  /** True if a namespace of another process is waited for: processes that share them ask those that have them, and look again. */
  readonly #waits: boolean

  private constructor(database: Database, lease: ProcessLease, waits: boolean) {
    this.database = database
    this.lease = lease
    this.#waits = waits
  }

  /** Connects, makes the tables if there are none, and registers this process. Throws DatabaseError. */
  static async open(options: DatabaseOptions & ProcessOptions): Promise<DatabaseRegistry> {
    const database = await Database.open(options)
    try {
      const waits = !takesOthers(options.address)
      return new DatabaseRegistry(database, await ProcessLease.register(database, options), waits)
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /**
   * Takes a namespace that is nobody's or of a dead process, or makes it where there is none. Throws OwnedElsewhereError if a process that
   * is alive has it, DatabaseError otherwise.
   */
  async open(life: string | undefined, { log: _, synced: __, ...start }: StorageOptions): Promise<PostgresStorage> {
    const own = { name: nameIn(life), life: life ?? DEFAULT }
    try {
      const taken = await this.#take(own, start)
      return new PostgresStorage(this.database, this.lease, takenIn(taken, own.name, this.lease.id))
    } catch (error) {
      throw databaseFailure(this.#placeOf(own.name), error)
    }
  }

  async list(): Promise<FoundNamespace[]> {
    await this.#ask(this.database.statements.forgetRemains)
    const rows = await this.#ask(this.database.statements.list)
    return rows.map(({ name, life, kept }) => ({ name, life, kept }) as FoundNamespace)
  }

  async peekDefault(): Promise<KeptNamespace | null> {
    const [row] = await this.#ask(this.database.statements.find, [DEFAULT])
    return (row?.kept ?? null) as KeptNamespace | null
  }

  async keep(life: string | undefined, kept: KeptNamespace): Promise<void> {
    const name = nameIn(life)
    const clients = Object.entries(kept.clients)
    const ids = [clients.map(([, { client_id }]) => client_id), clients.map(([tenant]) => tenant)]
    const values = [name, this.lease.id, life ?? DEFAULT, JSON.stringify(kept), ...ids]
    const [row] = await this.#insist(this.database.statements.keep, values)
    if (!row) throw new NotOwnerError(`${this.#placeOf(name)}: another process has taken it, or it was deleted`)
  }

  async forget(life: string): Promise<void> {
    const name = nameIn(life)
    await this.#insist(this.database.statements.bury, [name])
    const [ended] = await this.#insist(this.database.statements.forget, [name, this.lease.id, life])
    if (ended) return
    const [found] = await this.#insist(this.database.statements.find, [name])
    if (found && !found.deleted && found.life === life) throw this.#notFree(name, found)
  }

  async remove(life: string): Promise<void> {
    await this.forget(life)
    const values = [nameIn(life), life]
    await this.database.deleteAll(this.database.statements.removeSome, values, this.lease.dead)
  }

  get id(): string {
    return this.lease.id
  }

  get dead(): AbortSignal {
    return this.lease.dead
  }

  async secret(): Promise<string> {
    const [row = {}] = await this.#ask(this.database.statements.secret, [randomBytes(32)])
    return Buffer.from(row.secret as Uint8Array).toString('base64url')
  }

  get place(): string {
    return this.database.place
  }

  holds(): boolean {
    return this.lease.holds()
  }

  renewed(): Promise<boolean> {
    return this.lease.renewed()
  }

  get awaySince(): number | undefined {
    return this.database.awaySince
  }

  async agree({ seed, fixture }: SharedBase): Promise<SharedBase> {
    const { forgetRemains, joining, agree } = this.database.statements
    await this.#ask(forgetRemains)
    try {
      const { rows } = await this.database.transaction(async (client) => {
        await client.query(joining)
        return client.query(agree, [this.id, seed, fixture])
      })
      return { seed: Number(rows[0].seed), fixture: rows[0].fixture }
    } catch (error) {
      throw databaseFailure(this.database.place, error)
    }
  }

  async locate(name: string): Promise<LocatedNamespace | undefined> {
    const [row] = await this.#ask(this.database.statements.locate, [name])
    return row && locatedIn(row)
  }

  async locateAll(): Promise<LocatedNamespace[]> {
    return (await this.#ask(this.database.statements.locateAll)).map(locatedIn)
  }

  async unused(milliseconds: number): Promise<LocatedNamespace[]> {
    return (await this.#ask(this.database.statements.unused, [milliseconds])).map(locatedIn)
  }

  async ofClient(clientId: string): Promise<{ name: string; life: string } | undefined> {
    const [row] = await this.#ask(this.database.statements.ofClient, [clientId])
    return row && { name: String(row.name), life: String(row.life) }
  }

  async tenants(): Promise<string[]> {
    return (await this.#ask(this.database.statements.tenants)).map(({ tenant }) => String(tenant))
  }

  async count(): Promise<number> {
    const [row] = await this.#ask(this.database.statements.count)
    return Number(row?.number)
  }

  async processes(): Promise<LivingProcess[]> {
    return (await this.#ask(this.database.statements.processes)).map(processIn)
  }

  giveUp(): void {
    this.lease.giveUp()
  }

  leave(): Promise<void> {
    return this.lease.close()
  }

  async close(): Promise<void> {
    await this.lease.close()
    await this.database.close()
  }

  async #take({ name, life }: { name: string; life: string }, start: StorageStart): Promise<Row> {
    const { statements, clock } = this.database
    const me = this.lease.id
    const manifest = async () => JSON.stringify(newManifest(start, await this.lease.formatToWrite()))
    /** Ends of the owner's lease that were seen. */
    const seen = new Set<unknown>()
    for (let attempt = 1; ; attempt++) {
      const [found] = await this.database.query(statements.find, [name])
      if (found?.owner === me && this.lease.writes(name)) throw this.#notFree(name, found)
      if (found) this.#checkFormat(name, found)
      const [taken] =
        !found || found.deleted
          ? await this.database.query(statements.create, [name, me, life, await manifest()])
          : found.owner === null
            ? await this.database.query(statements.take, [name, me])
            : found.owner === me
              ? await this.database.query(statements.takeAgain, [name, me])
              : await this.database.query(statements.takeOfDead, [name, me, found.owner])
      if (taken && taken.life === life) return taken
      if (taken) await this.#giveBack(name, taken)
      if (this.lease.dead.aborted) throw this.lease.dead.reason
      if (found?.owner && !this.#waits) throw this.#notFree(name, found)
      seen.add(found?.expires_at)
      if (found?.owner && seen.size > RENEWALS_OF_DEAD + 1) throw this.#notFree(name, found)
      if (attempt >= (found?.owner ? ATTEMPTS_WHILE_OWNED : ATTEMPTS)) throw this.#notFree(name, found)
      await clock.wallSleep(DEATH_PAUSE_MS)
    }
  }

  /** Gives back a namespace of the same name, but of another life. */
  async #giveBack(name: string, taken: Row): Promise<never> {
    await this.database.query(this.database.statements.release, [name, this.lease.id, taken.epoch])
    const what = `there is another namespace of this name (${taken.life})`
    throw new DatabaseError(this.#placeOf(name), what, 'delete it, or choose another name')
  }

  #notFree(name: string, found: Row | undefined): Error {
    if (found?.owner) return new OwnedElsewhereError(this.#placeOf(name), String(found.address))
    if (!this.lease.holds())
      return new DatabaseError(this.#placeOf(name), 'the lease of this process has expired', 'try again')
    return new DatabaseError(this.#placeOf(name), 'others take it and give it back all the time', 'try again')
  }

  /** Refuses a namespace of a format that this process does not read, unless another one serves it. It is left as it is. */
  #checkFormat(name: string, { deleted, owner_lives, format, version }: Row): void {
    const { oldest, newest } = this.lease.formats
    if (deleted || owner_lives || (Number(format) >= oldest && Number(format) <= newest)) return
    const what = `it is of format ${format}, written by version ${version}, and this version reads formats ${oldest} to ${newest}`
    throw new DatabaseError(this.#placeOf(name), what, 'start the version that wrote it, or a newer one')
  }

  #placeOf(name: string): string {
    return `${this.database.place}, namespace ${name}`
  }

  /** Asks once: a database that does not answer is an error. */
  async #ask(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.database.query(statement, values).catch((error: unknown) => {
      throw databaseFailure(this.database.place, error)
    })
  }

  /** Asks until it is known: a change must not be reported as refused that may be made later. */
  async #insist(statement: string, values: readonly unknown[]): Promise<Row[]> {
    const rows = await this.database.insist(statement, values, this.lease.dead)
    this.lease.dead.throwIfAborted()
    return rows
  }
}

function locatedIn(row: Row): LocatedNamespace {
  const { name, life, kept, owner, address } = row
  const process = owner === null ? undefined : processIn({ id: owner, address })
  return { name: String(name), life: String(life), kept: kept as KeptNamespace | null, owner: process }
}

function processIn({ id, address }: Row): LivingProcess {
  return { id: String(id), address: String(address) }
}

/** A life begins with the name. */
function nameIn(life: string = DEFAULT): string {
  return life.split('.')[0] ?? life
}
