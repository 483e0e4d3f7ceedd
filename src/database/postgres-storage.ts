import {
  changesOfRun,
  type JournalWish,
  type ManifestData,
  type NamespaceManifest,
  type NamespaceStorage,
  type StorageStart,
} from '../domain/ports/namespace-storage.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Database, Row } from './database.ts'
import { DatabaseError, damagedRows, databaseFailure } from './database-error.ts'
import { DatabaseJournal } from './database-journal.ts'
import { type Extent, emptyExtent, NamespaceWriter, type Ownership, type WrittenJournal } from './namespace-writer.ts'
import type { ProcessLease } from './process-lease.ts'

/** Milliseconds that a namespace which is closed waits for a database that does not answer. */
const CLOSING_MS = 5_000

/** A namespace as it was taken. */
interface TakenNamespace {
  ownership: Ownership
  head: number
  generations: Record<string, Extent>
  manifest: ManifestData
}

/** The state of a namespace in rows of a database, which this process owns until it is closed or lost. */
export class PostgresStorage implements NamespaceStorage {
  readonly place: string
  readonly manifest: NamespaceManifest
  readonly #database: Database
  readonly #lease: ProcessLease
  readonly #writer: NamespaceWriter
  readonly #generations: Record<string, Extent>
  readonly #journals = new Map<string, Promise<DatabaseJournal<unknown>>>()
  /** What the journals had when it was taken. */
  #taken: Promise<Row[]> | undefined
  #cleared: Promise<void> | undefined
  #closed: Promise<void> | undefined

  /** The namespace was just taken by this process: see `NamespaceRows`. Throws DatabaseError if it is of a format that this version cannot read. */
  constructor(database: Database, lease: ProcessLease, taken: TakenNamespace) {
    const { ownership, head, generations, manifest } = taken
    const writer = new NamespaceWriter(database, ownership, { head, manifest })
    this.place = writer.place
    this.#database = database
    this.#lease = lease
    this.#writer = writer
    this.#generations = generations
    this.manifest = {
      get data() {
        const { manifest } = writer
        return { ...manifest, clock: shifted(manifest.clock, lease.ahead) }
      },
      update: ({ clock, ...changes }) => {
        const stored = clock && { clock: shifted(clock, -lease.ahead) }
        return writer.change((data) => ({ ...data, ...changes, ...stored }))
      },
      raiseFormat: () => this.#raiseFormat(),
    }
    lease.own(writer)
  }

  get lost(): AbortSignal {
    return this.#writer.lost
  }

  get awaySince(): number | undefined {
    return this.#database.awaySince
  }

  holds(): boolean {
    return this.#lease.holds() && !this.lost.aborted
  }

  async renewed(): Promise<boolean> {
    return (await this.#lease.renewed()) && this.holds()
  }

  async begin(version: string): Promise<void> {
    await this.#clear()
    await this.#writer.change((data) => ({ ...data, ...changesOfRun(data, version) }))
  }

  async journal<Entry>(name: string, { unhurried }: JournalWish = {}): Promise<UnparsedJournal<Entry>> {
    const opened = this.#journals.get(name) ?? this.#openJournal(name, unhurried)
    this.#journals.set(name, opened)
    return opened as Promise<UnparsedJournal<unknown>> as Promise<UnparsedJournal<Entry>>
  }

  async check(): Promise<void> {
    if (this.lost.aborted) throw this.lost.reason
    if (this.awaySince === undefined) return
    const since = new Date(this.awaySince).toISOString()
    throw new DatabaseError(this.place, `the database has not answered since ${since}`, 'see to it; nothing is lost')
  }

  async probeRoom(_bytes: number): Promise<void> {
    await this.check()
    const [row] = await this.#database.query(this.#database.statements.writable).catch((error: unknown) => {
      throw databaseFailure(this.place, error)
    })
    if (row?.refuses) throw databaseFailure(this.place, Object.assign(new Error('read-only'), { code: '25006' }))
  }

  /** Gives the namespace back once all is stored. A database that does not answer is not waited for: then it stays this process's until that is dead. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Begins to write a newer format, if no process is left that does not read it. */
  async #raiseFormat(): Promise<void> {
    const writer = this.#writer
    if (writer.manifest.format >= this.#lease.formats.newest) return
    const format = await this.#lease.formatToWrite().catch(() => writer.manifest.format) // raised another time
    if (writer.manifest.format < format) await writer.change((data) => ({ ...data, format }))
  }

  /** Deletes what no owner may ever need: rewrites that an earlier one did not finish, and what they were to replace. */
  #clear(): Promise<void> {
    this.#cleared ??= this.#present().then((rows) => this.#clearRest(rows))
    return this.#cleared
  }

  async #clearRest(rows: readonly Row[]): Promise<void> {
    const { ownership, ended } = this.#writer
    const { name, epoch } = ownership
    const { deleteOlder, deleteUnfinished } = this.#database.statements
    for (const { journal, generation } of rows) {
      const inForce = this.#generations[String(journal)]?.generation ?? -1
      const own = [name, journal, inForce]
      if (Number(generation) < inForce) await this.#database.deleteAll(deleteOlder, own, ended)
      if (Number(generation) > inForce) await this.#database.deleteAll(deleteUnfinished, [...own, epoch], ended)
    }
  }

  /** The generations that have rows, as they were before this process wrote any. */
  #present(): Promise<Row[]> {
    const { ownership, ended } = this.#writer
    this.#taken ??= this.#database.insist(this.#database.statements.present, [ownership.name], ended)
    return this.#taken
  }

  async #openJournal(name: string, unhurried: boolean | undefined): Promise<DatabaseJournal<unknown>> {
    const known = this.#generations[name]
    const extent = known ?? emptyExtent(name, 0)
    const written: WrittenJournal = { name, extent, inForce: true, unhurried }
    if (!known) {
      const { journals } = this.manifest.data
      if (journals.includes(name)) throw damagedRows(this.place, `the extent of its journal ${name} is missing`)
      await this.#clear() // an earlier namespace of this name may have left entries
      await this.#writer.change((data) => ({ ...data, journals: [...data.journals, name] }), written)
    } else {
      const rows = await this.#present()
      const last = rows.find((row) => row.journal === name && row.generation === extent.generation)?.last
      if (Number(last ?? 0) > extent.seq)
        throw damagedRows(`${this.place}, journal ${name}`, `row ${last} is behind the last one, ${extent.seq}`)
    }
    if (this.#writer.ended.aborted) throw this.#writer.ended.reason
    return new DatabaseJournal<unknown>({
      database: this.#database,
      writer: this.#writer,
      written,
      cleared: () => this.#clear(),
    })
  }

  async #close(): Promise<void> {
    const stored = this.#stored()
    const patience = this.#database.clock.wallSleep(CLOSING_MS, this.lost)
    const inTime = await Promise.race([stored.then(() => true), patience.then(() => false)])
    if (inTime && !this.lost.aborted) {
      const { name, owner, epoch } = this.#writer.ownership
      const released = this.#database.query(this.#database.statements.release, [name, owner, epoch])
      await Promise.race([released.catch(() => undefined), patience])
    }
    this.#lease.disown(this.#writer)
    this.#writer.close()
  }

  async #stored(): Promise<void> {
    await Promise.allSettled([...this.#journals.values()].map(async (opened) => (await opened).close()))
    await this.#writer.idle()
  }
}

type Clock = ManifestData['clock']

/**
 * The same position of a clock by another clock of real time. In the database, a running clock's lead is that over the database's time, so that
 * business time goes on evenly when the next owner's machine has another time.
 */
function shifted({ offset, frozen_at }: Clock, milliseconds: number): Clock {
  return { offset: frozen_at === null ? Math.round(offset + milliseconds) : offset, frozen_at }
}

/** Content of the manifest of a new namespace. */
export function newManifest({ runs, ...start }: StorageStart, format: number): ManifestData {
  return {
    format,
    ...start,
    runs: runs ?? 0,
    clock: { offset: 0, frozen_at: null },
    seeded: false,
    clean: true,
    journals: [],
  }
}

/** The namespace in a row that a statement returned which took it. */
export function takenIn(row: Row, name: string, owner: string): TakenNamespace {
  return {
    ownership: { name, owner, epoch: Number(row.epoch) },
    head: Number(row.head),
    generations: row.generations as Record<string, Extent>,
    manifest: row.manifest as ManifestData,
  }
}
