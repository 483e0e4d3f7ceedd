import type { Collection, Collections, PageQuery, PageResult, Store, Write } from '../domain/ports/store.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { LedgerChanges, LedgerEntry } from './ledger-entry.ts'
import { compacted, load, PACKED, PACKING_SIZES, type PackingSizes, packTable } from './ledger-journal.ts'
import { UnpackedSegments } from './segment.ts'
import { type AnyRecord, type Change, COLLECTIONS, emptyTables, type Table } from './table.ts'

/** Memory of a record in no segment, and of a packed one, in bytes with its place in the indexes: measured on 40,000 of each under Node 20. */
const [LOOSE_BYTES, PACKED_BYTES] = [2_000, 1_000]

/** A commit that waits to be written. */
interface Commit {
  writes: readonly Write[]
  resolve(): void
  reject(error: unknown): void
}

/**
 * Opens a store on a journal, and rewrites the journal if most of it is superseded; without one, in memory only. `begin` replaces the
 * journal's content. A read of packed records, and a commit, may have to wait until these are loaded. `now` is business time in
 * milliseconds; the store keeps it with each write.
 */
export async function createStore(
  journal?: UnparsedJournal<LedgerEntry>,
  sizes = PACKING_SIZES,
  begin?: readonly LedgerEntry[],
  now?: () => number,
): Promise<LedgerStore> {
  const store = new LedgerStore(journal, sizes, now)
  if (begin) await journal?.rewrite(begin)
  await store.load(begin)
  return store
}

/**
 * The ledger: tables in memory, and a journal of their changes. A commit is staged, written, and only then visible to readers, so that
 * a failed write leaves nothing behind. Commits that arrive during a write are staged on top of each other and share the next write.
 * Records that hardly ever change are packed into segments in the background; the journal gets these when it is rewritten.
 */
export class LedgerStore implements Store {
  readonly #journal: UnparsedJournal<LedgerEntry> | undefined
  #tables = emptyTables()
  #sequence = 0
  /** The sequence after the staged commits. */
  #stagedSequence = 0
  /** The commits of the next write, which later commits may still join. */
  #next: Commit[] | undefined
  #tail: Promise<unknown> = Promise.resolve()
  readonly #sizes: PackingSizes
  readonly #now: (() => number) | undefined
  #at = 0
  readonly #unpacked = new UnpackedSegments()
  #packing: Promise<void> | undefined
  /** Resolves when the packed collections are in their tables too; undefined when they are. */
  #filing: Promise<void> | undefined
  #closing = false
  /** Number of puts in the journal's entries; a record that changed counts each time. */
  #puts = 0

  constructor(journal: UnparsedJournal<LedgerEntry> | undefined, sizes: PackingSizes, now?: () => number) {
    this.#journal = journal
    this.#now = now
    this.#sizes = sizes
  }

  /** Fills the tables from the entries, or from the journal if none are given. */
  async load(entries?: readonly LedgerEntry[]): Promise<void> {
    const source = entries ?? this.#journal
    if (!source) return
    const { sequence, at, puts, filing } = await load(source, { tables: this.#tables, unpacked: this.#unpacked })
    this.#sequence = sequence
    this.#at = at
    this.#puts = puts
    if (filing) return this.#fileBeside(filing)
    if (this.#muchGarbage) await this.#rewrite()
    this.#pack()
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Collections[C] | undefined> {
    if (this.#filing) await this.#filed(collection)
    return this.#table(collection).get(id)?.record
  }

  find<C extends Collection>(collection: C, index: string, value: string): Collections[C] | undefined {
    return this.#table(collection).find(index, value)
  }

  async page<C extends Collection>(collection: C, query: PageQuery): Promise<PageResult<Collections[C]>> {
    if (this.#filing) await this.#filed(collection)
    return this.#table(collection).page(query)
  }

  async count(collection: Collection, scope: string): Promise<number> {
    if (this.#filing) await this.#filed(collection)
    return this.#table(collection).count(scope)
  }

  async commit(writes: readonly Write[]): Promise<void> {
    const own = writes.map(detached)
    if (this.#filing) await this.#filing
    return new Promise((resolve, reject) => {
      if (!this.#next) {
        const commits: Commit[] = []
        void this.#enqueue(() => this.#commitAll(commits))
        this.#next = commits
      }
      this.#next.push({ writes: own, resolve, reject })
    })
  }

  /** Business time of the last write, milliseconds since the Unix epoch; 0 if unknown. */
  get at(): number {
    return this.#at
  }

  /** Bytes of its journal; without one, an estimate of its memory. */
  get footprint(): { bytes: number; of: 'journal' | 'memory' } {
    if (this.#journal) return { bytes: this.#journal.size, of: 'journal' }
    const packed = this.#size - this.#loose
    return { bytes: this.#loose * LOOSE_BYTES + packed * PACKED_BYTES, of: 'memory' }
  }

  /** Number of records of a collection so far; of a large ledger, shortly after a start, not all packed ones yet. */
  size(collection: Collection): number {
    return this.#tables[collection].size
  }

  get sequence(): number {
    return this.#sequence
  }

  /** Resolves when all records are in their tables; the packed ones may come later than the others. */
  async whole(): Promise<void> {
    await this.#filing
  }

  /** Its content as entries that another store can begin with. They share its records, which never change. */
  entries(): LedgerEntry[] {
    if (this.#filing) throw new Error('the ledger is not whole yet')
    return [...compacted(this.#tables, this.#written).entries]
  }

  async clear(): Promise<void> {
    if (this.#filing) await this.#filing
    return this.#enqueue(async () => {
      await this.#journal?.rewrite([])
      this.#tables = emptyTables()
      this.#sequence = 0
      this.#at = 0
      this.#puts = 0
    })
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#filing?.catch(() => undefined)
    await this.#packing
    if (!this.#filing && !this.#gathered && this.#garbage > Math.max(this.#size / 20, this.#sizes.garbage))
      this.#rewriteSoon()
    await this.#tail
  }

  async #commitAll(commits: Commit[]): Promise<void> {
    if (this.#next === commits) this.#next = undefined
    for (let begin = 0; begin < commits.length; ) {
      const end = this.#stageFrom(commits, begin)
      try {
        await this.#writeStaged()
        for (const name of COLLECTIONS) this.#tables[name].applyStaged()
        this.#sequence = this.#stagedSequence
        for (const commit of commits.slice(begin, end)) commit.resolve()
        this.#pack()
      } catch (error) {
        for (const name of COLLECTIONS) this.#tables[name].dropStaged()
        for (const commit of commits.slice(begin, end)) commit.reject(error)
      }
      begin = end
    }
  }

  /** Stages commits from `begin` on. Returns the index of the next one to try: it may conflict with commits not yet written. */
  #stageFrom(commits: readonly Commit[], begin: number): number {
    this.#stagedSequence = this.#sequence
    for (const [i, { writes, reject }] of commits.slice(begin).entries()) {
      try {
        this.#stage(writes)
      } catch (error) {
        // The write of the commit that it conflicts with may fail; then there is no conflict.
        if (i > 0) return begin + i
        reject(error)
        return begin + 1
      }
    }
    return commits.length
  }

  /** Throws, without staging anything, if a unique value is taken. */
  #stage(writes: readonly Write[]): void {
    const changes = new Map<Collection, Map<string, Change<AnyRecord>>>()
    let sequence = this.#stagedSequence
    for (const write of writes) {
      const table = this.#tables[write.collection]
      const id = 'put' in write ? table.shape.id(write.put) : write.remove
      const byId = changes.get(write.collection) ?? new Map<string, Change<AnyRecord>>()
      const latest = table.latest(id)
      const change = byId.get(id) ?? { id, before: latest, after: latest }
      if ('put' in write) {
        if (!change.after) sequence += 1
        change.after = table.place(write.put, change.after?.sequence ?? sequence)
      } else {
        change.after = undefined
      }
      changes.set(write.collection, byId.set(id, change))
    }
    const perTable = [...changes].map(([name, byId]) => ({ table: this.#tables[name], changes: [...byId.values()] }))
    for (const { table, changes } of perTable) table.checkUnique(changes)
    for (const { table, changes } of perTable) table.stage(changes)
    this.#stagedSequence = sequence
  }

  async #writeStaged(): Promise<void> {
    if (!this.#journal) return
    this.#at = this.#now?.() ?? this.#at
    const entry: LedgerChanges = { ...this.#written, sequence: this.#stagedSequence, puts: [], removes: [] }
    for (const name of COLLECTIONS) {
      for (const { id, before, after } of this.#tables[name].staged()) {
        if (after) entry.puts.push([name, after.sequence, after.record])
        else if (before) entry.removes.push([name, id])
      }
    }
    const changes = entry.puts.length + entry.removes.length
    if (changes > 0 || entry.sequence !== this.#sequence) await this.#journal.append(entry)
    this.#puts += entry.puts.length
  }

  /** Loads the packed collections in the background. If that fails, they are never read and nothing is written. */
  #fileBeside(filing: Promise<void>): void {
    this.#filing = filing.then(() => {
      this.#filing = undefined
      if (this.#muchGarbage) this.#rewriteSoon()
      this.#pack()
    })
    this.#filing.catch(() => undefined)
  }

  get #written(): Pick<LedgerChanges, 'sequence' | 'at'> {
    return { sequence: this.#sequence, ...(this.#at > 0 && { at: this.#at }) }
  }

  /** Resolves when a collection is in its table. */
  async #filed(collection: Collection): Promise<void> {
    if (PACKED.includes(collection)) await this.#filing
  }

  get #size(): number {
    return COLLECTIONS.reduce((sum, name) => sum + this.#tables[name].size, 0)
  }

  /** Number of records in no segment. */
  get #loose(): number {
    return COLLECTIONS.reduce((sum, name) => sum + this.#tables[name].loose, 0)
  }

  /** Number of puts in the journal that a rewritten one would not have. */
  get #garbage(): number {
    return this.#puts - this.#loose
  }

  /** @returns true if that is most of the entries that a start has to read in full */
  get #muchGarbage(): boolean {
    return this.#garbage > Math.max(this.#loose, this.#sizes.garbage)
  }

  /** @returns true if there are enough loose records to pack */
  get #gathered(): boolean {
    return PACKED.some((name) => this.#tables[name].loose >= this.#sizes.batch)
  }

  /** Packs loose records in the background. Records that cannot be packed stay as they are. */
  #pack(): void {
    if (this.#packing || !this.#gathered) return
    this.#packing = this.#packAll()
      .catch(() => undefined)
      .finally(() => {
        this.#packing = undefined
      })
  }

  async #packAll(): Promise<void> {
    const how = { segment: this.#sizes.segment, unpacked: this.#unpacked, ended: () => this.#closing }
    for (const name of PACKED) {
      const table = this.#tables[name]
      if (table.loose >= this.#sizes.batch) await packTable([name, table], how)
    }
    if (this.#garbage > Math.max(this.#size / 2, this.#sizes.garbageUnderWay)) this.#rewriteSoon()
  }

  /** If the rewrite fails, the journal stays as it is. */
  #rewriteSoon(): void {
    this.#enqueue(() => this.#rewrite()).catch(() => undefined)
  }

  async #rewrite(): Promise<void> {
    if (!this.#journal) return
    const { entries, loose } = compacted(this.#tables, this.#written)
    await this.#journal.rewrite(entries)
    this.#puts = loose
  }

  /** Runs tasks one after the other; commits requested from here on follow this task. */
  #enqueue(task: () => Promise<void>): Promise<void> {
    this.#next = undefined
    const done = this.#tail.then(task)
    this.#tail = done.catch(() => undefined)
    return done
  }

  #table<C extends Collection>(collection: C): Table<Collections[C]> {
    return this.#tables[collection] as unknown as Table<Collections[C]>
  }
}

/** Copies the write with a frozen record, so that the caller cannot change it while it waits. Nested values are shared. */
function detached(write: Write): Write {
  return 'put' in write ? ({ ...write, put: Object.freeze({ ...write.put }) } as Write) : { ...write }
}
