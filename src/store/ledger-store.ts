import type { Journal } from '../domain/ports/journal.ts'
import {
  type Collection,
  type CollectionShape,
  type Collections,
  type PageQuery,
  type PageResult,
  SHAPES,
  type Store,
  type Write,
} from '../domain/ports/store.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { type Change, type Stored, Table } from './table.ts'

type AnyRecord = Collections[Collection]
type Tables = Record<Collection, Table<AnyRecord>>

/** A commit that waits to be written. */
interface Commit {
  writes: readonly Write[]
  resolve(): void
  reject(error: unknown): void
}

const COLLECTIONS = Object.keys(SHAPES) as Collection[]

/** Fewer superseded and removed records than this are not worth rewriting a journal for. */
const MUCH_GARBAGE = 1000
const RECORDS_PER_ENTRY = 100

/** Opens a store over what the journal holds, and rewrites that when most of it is superseded; without one, in memory only. */
export async function createStore(journal?: Journal<LedgerEntry>): Promise<Store> {
  const store = new LedgerStore(journal)
  await store.load()
  return store
}

/**
 * The ledger: tables in memory, and a journal of what changed them. A commit is staged, written, and only then seen by
 * readers, so that a write that fails leaves nothing behind. Commits that come while one is written are staged on top of
 * each other and share the next write.
 */
class LedgerStore implements Store {
  readonly #journal: Journal<LedgerEntry> | undefined
  #tables = emptyTables()
  #sequence = 0
  /** The sequence once what is staged is applied. */
  #stagedSequence = 0
  /** The commits that later ones may still join, as their turn has not come. */
  #next: Commit[] | undefined
  #tail: Promise<unknown> = Promise.resolve()

  constructor(journal: Journal<LedgerEntry> | undefined) {
    this.#journal = journal
  }

  async load(): Promise<void> {
    if (!this.#journal) return
    let puts = 0
    for await (const entry of this.#journal.read()) {
      this.#replay(entry)
      puts += entry.puts.length
    }
    const live = COLLECTIONS.reduce((sum, name) => sum + this.#tables[name].size, 0)
    const garbage = puts - live
    if (garbage > Math.max(live, MUCH_GARBAGE)) await this.#journal.rewrite(this.#compacted())
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Collections[C] | undefined> {
    return this.#table(collection).get(id)?.record
  }

  async find<C extends Collection>(collection: C, index: string, value: string): Promise<Collections[C] | undefined> {
    return this.#table(collection).find(index, value)
  }

  async page<C extends Collection>(collection: C, query: PageQuery): Promise<PageResult<Collections[C]>> {
    return this.#table(collection).page(query)
  }

  async count(collection: Collection, scope: string): Promise<number> {
    return this.#table(collection).count(scope)
  }

  async commit(writes: readonly Write[]): Promise<void> {
    const own = writes.map(detached)
    return new Promise((resolve, reject) => {
      if (!this.#next) {
        const commits: Commit[] = []
        void this.#enqueue(() => this.#commitAll(commits))
        this.#next = commits
      }
      this.#next.push({ writes: own, resolve, reject })
    })
  }

  async sequence(): Promise<number> {
    return this.#sequence
  }

  async clear(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#journal?.rewrite([])
      this.#tables = emptyTables()
      this.#sequence = 0
    })
  }

  async close(): Promise<void> {
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
        change.after = { sequence: change.after?.sequence ?? sequence, record: write.put }
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
    const entry: LedgerEntry = { sequence: this.#stagedSequence, puts: [], removes: [] }
    for (const name of COLLECTIONS) {
      for (const { id, before, after } of this.#tables[name].staged()) {
        if (after) entry.puts.push([name, after.sequence, after.record])
        else if (before) entry.removes.push([name, id])
      }
    }
    const changes = entry.puts.length + entry.removes.length
    if (changes > 0 || entry.sequence !== this.#sequence) await this.#journal.append(entry)
  }

  #replay({ sequence, puts, removes }: LedgerEntry): void {
    const changes = new Map<Collection, Change<AnyRecord>[]>()
    const add = (name: Collection, id: string, after: Stored<AnyRecord> | undefined) => {
      const change = { id, before: this.#tables[name].get(id), after }
      const known = changes.get(name)
      if (known) known.push(change)
      else changes.set(name, [change])
    }
    for (const [name, sequence, record] of puts) {
      add(name, this.#tables[name].shape.id(record), { sequence, record: Object.freeze(record) })
    }
    for (const [name, id] of removes) add(name, id, undefined)
    for (const [name, ofTable] of changes) this.#tables[name].apply(ofTable)
    this.#sequence = sequence
  }

  /** What the tables hold, as entries of a new journal. */
  *#compacted(): Iterable<LedgerEntry> {
    let puts: LedgerEntry['puts'] = []
    for (const name of COLLECTIONS) {
      for (const { sequence, record } of this.#tables[name].all()) {
        puts.push([name, sequence, record])
        if (puts.length < RECORDS_PER_ENTRY) continue
        yield { sequence: this.#sequence, puts, removes: [] }
        puts = []
      }
    }
    yield { sequence: this.#sequence, puts, removes: [] }
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

function emptyTables(): Tables {
  const shapes = SHAPES as unknown as Record<Collection, CollectionShape<AnyRecord>>
  return Object.fromEntries(COLLECTIONS.map((name) => [name, new Table(name, shapes[name])])) as Tables
}
