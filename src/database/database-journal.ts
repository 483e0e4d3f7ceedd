import { crc32 } from 'node:zlib'
import type { AppendWish } from '../domain/ports/journal.ts'
import type { UnparsedEntry, UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Database, Row } from './database.ts'
import { type DatabaseError, damagedRows } from './database-error.ts'
import { emptyExtent, type NamespaceWriter, type WrittenJournal } from './namespace-writer.ts'

/** Bytes of new entries that a rewrite hands to the writer before it waits for them: the appends of other journals wait as long. */
const AHEAD_BYTES = 2 ** 19
const LINE_FEED = 10

/** A journal in rows of a database. Every row is checked when it is read. */
export class DatabaseJournal<Entry> implements UnparsedJournal<Entry> {
  readonly #database: Database
  readonly #writer: NamespaceWriter
  readonly #written: WrittenJournal
  /** Resolves when nothing is left of rewrites that an earlier owner did not finish. */
  readonly #cleared: () => Promise<void>
  /** The last generation that was begun, finished or not. */
  #generation: number
  /** The first generation whose entries have not been deleted. */
  #oldest: number
  /** Number of readers by generation. Its entries stay until they have finished. */
  readonly #readers = new Map<number, number>()
  /** The last append. Never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  /** The last rewrite, while it runs or calls wait behind it. Never rejects. */
  #rewrite: Promise<unknown> | undefined
  #behind = 0
  #deletion: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor({ database, writer, written, cleared }: DatabaseJournalParts) {
    this.#database = database
    this.#writer = writer
    this.#written = written
    this.#cleared = cleared
    this.#generation = written.extent.generation
    this.#oldest = written.extent.generation
  }

  /** Bytes of all entries. */
  get size(): number {
    return this.#written.extent.bytes
  }

  async *read(): AsyncGenerator<Entry> {
    for await (const { parse } of this.readUnparsed()) yield parse()
  }

  async *readUnparsed(): AsyncGenerator<UnparsedEntry<Entry>> {
    const { extent } = this.#written
    const { generation } = extent
    this.#readers.set(generation, (this.#readers.get(generation) ?? 0) + 1)
    try {
      let { seq, crc } = emptyExtent(this.#written.name, generation)
      while (seq < extent.seq) {
        const rows = await this.#page(generation, seq, extent.seq)
        for (const row of rows) {
          crc = crc32(row.bytes as Buffer, crc)
          seq = Number(row.seq)
          if (Number(row.crc) !== crc) throw await this.#damage(`row ${seq} is altered, or one before it is missing`)
          for (const json of entriesIn(row.bytes as Buffer)) yield { json, parse: () => this.#parse(json, seq) }
        }
        if (rows.length === 0) throw await this.#damage(`the rows after ${seq}, up to ${extent.seq}, are missing`)
      }
      if (crc !== extent.crc) throw await this.#damage(`row ${seq} is not the one that was acknowledged last`)
    } finally {
      this.#leave(generation)
    }
  }

  /** An append during a rewrite waits for that, and later ones of other journals do not. */
  get ordered(): boolean {
    return this.#rewrite === undefined
  }

  append(entry: Entry, { ahead }: AppendWish = {}): Promise<void> {
    if (this.#closed) return this.#refuseClosed()
    const json = jsonOf(entry)
    const done = this.#inTurn(() => this.#writer.append(this.#written, json, ahead))
    this.#last = done.catch(() => undefined)
    return done
  }

  rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    if (this.#closed) return this.#refuseClosed()
    const before = this.#last
    const done = this.#inTurn(async () => {
      await before
      await this.#replace(entries)
    })
    const settled = done.catch(() => undefined)
    this.#rewrite = settled
    this.#last = settled
    void settled.then(() => this.#passed(settled))
    return done
  }

  /** Resolves when all that was called before is stored. Appends called later reject. */
  close(): Promise<void> {
    this.#closed ??= this.#last.then(() => this.#deletion)
    return this.#closed
  }

  /** Runs what is called during a rewrite after it, in the order of the calls; anything else at once. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const before = this.#rewrite
    if (!before) return work()
    this.#behind += 1
    return before.then(() => {
      this.#behind -= 1
      this.#passed(before)
      return work()
    })
  }

  #passed(rewrite: Promise<unknown>): void {
    if (this.#rewrite === rewrite && this.#behind === 0) this.#rewrite = undefined
  }

  /** Writes the entries as a new generation beside the one in force, and puts that in force at the end. */
  async #replace(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    await this.#cleared()
    const { name } = this.#written
    const draft: WrittenJournal = { name, extent: emptyExtent(name, ++this.#generation), inForce: false }
    try {
      await this.#fill(draft, entries)
      await this.#writer.flip(this.#written, draft)
    } catch (error) {
      const { ownership } = this.#writer
      const own = [ownership.name, name, draft.extent.generation, ownership.epoch]
      this.#delete(this.#database.statements.deleteDraft, own)
      throw error
    }
    this.#deleteOld()
  }

  async #fill(draft: WrittenJournal, entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    let ahead = 0
    let failure: unknown
    let last: Promise<void> = Promise.resolve()
    for await (const entry of entries) {
      const json = jsonOf(entry)
      last = this.#writer.append(draft, json).catch((error: unknown) => {
        failure ??= error
      })
      ahead += json.length
      if (ahead < AHEAD_BYTES) continue
      await last
      ahead = 0
      if (failure !== undefined) throw failure
    }
    await last
    if (failure !== undefined) throw failure
  }

  #page(generation: number, after: number, last: number): Promise<Row[]> {
    const { name } = this.#writer.ownership
    const values = [name, this.#written.name, generation, after, last]
    return this.#database.insist(this.#database.statements.page, values, this.#writer.ended)
  }

  /** Rows that are not as they should be: if others own the namespace by now, they may have replaced them. */
  async #damage(what: string): Promise<Error> {
    const { ownership, head, ended } = this.#writer
    const [found] = await this.#database.insist(this.#database.statements.standing, [[ownership.name]], ended)
    if (ended.aborted || !this.#writer.verify(found, head)) return ended.reason
    return this.#damaged(what)
  }

  #damaged(what: string): DatabaseError {
    return damagedRows(`${this.#writer.place}, journal ${this.#written.name}`, what)
  }

  #parse(json: Buffer, seq: number): Entry {
    try {
      return JSON.parse(json.toString())
    } catch {
      throw this.#damaged(`row ${seq} is not JSON`)
    }
  }

  /** Deletes, in the background, what stood before the generation in force, once nobody reads it. */
  #deleteOld(): void {
    const { generation } = this.#written.extent
    if (this.#oldest === generation || [...this.#readers.keys()].some((older) => older < generation)) return
    this.#oldest = generation
    const own = [this.#writer.ownership.name, this.#written.name, generation]
    this.#delete(this.#database.statements.deleteOlder, own)
  }

  #delete(statement: string, values: readonly unknown[]): void {
    const before = this.#deletion
    this.#deletion = (async () => {
      await before
      await this.#database.deleteAll(statement, values, this.#writer.ended)
    })().catch((error: Error) => {
      // They are deleted when the namespace is opened the next time.
      this.#database.log.warn({ namespace: this.#writer.ownership.name }, `old entries stay for now: ${error.message}`)
    })
  }

  #leave(generation: number): void {
    const others = (this.#readers.get(generation) ?? 1) - 1
    if (others > 0) this.#readers.set(generation, others)
    else this.#readers.delete(generation)
    this.#deleteOld()
  }

  #refuseClosed(): Promise<never> {
    return Promise.reject(new Error(`${this.#writer.place}: the journal ${this.#written.name} is closed`))
  }
}

interface DatabaseJournalParts {
  database: Database
  writer: NamespaceWriter
  written: WrittenJournal
  cleared: () => Promise<void>
}

function jsonOf(entry: unknown): Buffer {
  return Buffer.from(JSON.stringify(entry))
}

function* entriesIn(bytes: Buffer): Generator<Buffer> {
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
    yield bytes.subarray(start, end)
    start = end + 1
  }
  yield bytes.subarray(start)
}
