import type { Collection, Collections, PageQuery, PageResult, Store, Write } from '../domain/ports/store.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { LedgerChanges, LedgerEntry } from './ledger-entry.ts'
import { compacted, load, PACKED, PACKING_SIZES, type PackingSizes, packTable } from './ledger-journal.ts'
import { UnpackedSegments } from './segment.ts'
import { type AnyRecord, type Change, COLLECTIONS, emptyTables, type Table } from './table.ts'

/** A commit that waits to be written. */
interface Commit {
  writes: readonly Write[]
  resolve(): void
  reject(error: unknown): void
}

/**
 * Opens a store over what the journal holds, and rewrites that when most of it is superseded; without one, in memory only. What it
 * is to `begin` with takes the place of whatever the journal holds. Whoever asks for packed records, or commits, may have to
 * wait until they have been put in their place. `now` is business time in milliseconds, which it keeps with what it writes.
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
 * The ledger: tables in memory, and a journal of what changed them. A commit is staged, written, and only then seen by
 * readers, so that a write that fails leaves nothing behind. Commits that come while one is written are staged on top of
 * each other and share the next write. Records that hardly ever change are packed into segments in the background; the
 * journal gets these when it is rewritten.
 */
export class LedgerStore implements Store {
  readonly #journal: UnparsedJournal<LedgerEntry> | undefined
  #tables = emptyTables()
  #sequence = 0
  /** The sequence once what is staged is applied. */
  #stagedSequence = 0
  /** The commits that later ones may still join, as their turn has not come. */
  #next: Commit[] | undefined
  #tail: Promise<unknown> = Promise.resolve()
  readonly #sizes: PackingSizes
  readonly #now: (() => number) | undefined
  #at = 0
  readonly #unpacked = new UnpackedSegments()
  #packing: Promise<void> | undefined
  /** Ends when the packed collections are in their tables, too; undefined when they are. */
  #filing: Promise<void> | undefined
  #closing = false
  /** Records put by the journal's entries, over and over again those that changed. */
  #puts = 0

  constructor(journal: UnparsedJournal<LedgerEntry> | undefined, sizes: PackingSizes, now?: () => number) {
    this.#journal = journal
    this.#now = now
    this.#sizes = sizes
  }

  /** Reads what the journal holds; the entries are given where that is known. */
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

  async find<C extends Collection>(collection: C, index: string, value: string): Promise<Collections[C] | undefined> {
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

  /** Business time of the last write, milliseconds since the Unix epoch; 0 when none is known. */
  get at(): number {
    return this.#at
  }

  async sequence(): Promise<number> {
    return this.#sequence
  }

  /** Resolves when all records are in their place, which those that are packed may not be at first. */
  async whole(): Promise<void> {
    await this.#filing
  }

  /** What it holds, as entries that another store can begin with. They share its records, which never change. */
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

  /** Stages commits from one on, and says which is the next: one that does not fit on top of what is not written yet. */
  #stageFrom(commits: readonly Commit[], begin: number): number {
    this.#stagedSequence = this.#sequence
    for (const [i, { writes, reject }] of commits.slice(begin).entries()) {
      try {
        this.#stage(writes)
      } catch (error) {
        // What it collides with may fail to be written: then it does not collide.
        if (i > 0) return begin + i
        reject(error)
        return begin + 1
      }
    }
    return commits.length
  }

  /** Throws, staging nothing, when a unique value is taken. */
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

  /** Lets the packed collections come into their tables. Should that fail, they are never read, nor is anything written. */
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

  /** Records that are in no segment. */
  get #loose(): number {
    return COLLECTIONS.reduce((sum, name) => sum + this.#tables[name].loose, 0)
  }

  /** Puts of the journal that a new one would not have. */
  get #garbage(): number {
    return this.#puts - this.#loose
  }

  /** @returns true if that is most of what a start has to read in full. */
  get #muchGarbage(): boolean {
    return this.#garbage > Math.max(this.#loose, this.#sizes.garbage)
  }

  /** @returns true if there is enough to pack. */
  get #gathered(): boolean {
    return PACKED.some((name) => this.#tables[name].loose >= this.#sizes.batch)
  }

  /** Packs what has gathered, beside everything else. What cannot be packed stays as it is. */
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

  /** The journal stays as it is when it cannot be rewritten. */
  #rewriteSoon(): void {
    this.#enqueue(() => this.#rewrite()).catch(() => undefined)
  }

  async #rewrite(): Promise<void> {
    if (!this.#journal) return
    const { entries, loose } = compacted(this.#tables, this.#written)
    await this.#journal.rewrite(entries)
    this.#puts = loose
  }

  /** Tasks run one after the other; commits asked for from here on follow this one. */
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

/** The write with a record of its own: frozen, and not the caller's to change while it waits. Nested values are shared. */
function detached(write: Write): Write {
  return 'put' in write ? ({ ...write, put: Object.freeze({ ...write.put }) } as Write) : { ...write }
}
