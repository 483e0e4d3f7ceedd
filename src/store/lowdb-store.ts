import { type Adapter, Low, Memory } from 'lowdb'
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
import { type Change, type Stored, Table } from './table.ts'

type AnyRecord = Collections[Collection]

/** What is written: every record by collection and id, and how many records have been put for the first time. */
export interface StoreDocument {
  sequence: number
  records: Record<Collection, Record<string, Stored<AnyRecord>>>
}

type Tables = Record<Collection, Table<AnyRecord>>
type Changes = Map<Collection, Map<string, Change<AnyRecord>>>

const COLLECTIONS = Object.keys(SHAPES) as Collection[]

/** Opens a store over what the adapter holds; by default an empty one that lives in memory only. */
export async function createStore(adapter: Adapter<StoreDocument> = new Memory()): Promise<Store> {
  const low = new Low(adapter, emptyDocument())
  await low.read()
  low.data = withPlainKeys(low.data)
  return new LowdbStore(low)
}

/**
 * The ledger over a lowdb document. Readers see tables of their own, never the document: a commit changes the document,
 * writes it, and only then changes the tables, so that a write that fails leaves nothing behind. Both hold the same
 * records; nothing is cloned or serialised per commit here, that is up to the adapter.
 */
class LowdbStore implements Store {
  readonly #low: Low<StoreDocument>
  #tables: Tables
  #sequence: number
  /** Commits run one after the other. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(low: Low<StoreDocument>) {
    this.#low = low
    this.#tables = emptyTables()
    this.#sequence = low.data.sequence
    for (const name of COLLECTIONS) {
      const stored = Object.entries(low.data.records[name])
      this.#tables[name].apply(stored.map(([id, after]) => ({ id, before: undefined, after })))
    }
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
    return this.#enqueue(() => this.#commit(own))
  }

  async sequence(): Promise<number> {
    return this.#sequence
  }

  async clear(): Promise<void> {
    return this.#enqueue(async () => {
      const before = this.#low.data
      this.#low.data = emptyDocument()
      await this.#write(() => {
        this.#low.data = before
      })
      this.#tables = emptyTables()
      this.#sequence = 0
    })
  }

  async close(): Promise<void> {
    await this.#queue
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const { changes, sequence } = this.#plan(writes)
    for (const [name, byId] of changes) this.#tables[name].checkUnique([...byId.values()])

    const document = this.#low.data
    this.#low.data.sequence = sequence
    for (const [name, byId] of changes) {
      for (const { id, after } of byId.values()) place(document.records[name], id, after)
    }
    await this.#write(() => {
      document.sequence = this.#sequence
      for (const [name, byId] of changes) {
        for (const { id, before } of byId.values()) place(document.records[name], id, before)
      }
    })

    for (const [name, byId] of changes) this.#tables[name].apply([...byId.values()])
    this.#sequence = sequence
  }

  /** The writes as one change per record, so that they can be checked and taken back as a whole. */
  #plan(writes: readonly Write[]): { changes: Changes; sequence: number } {
    const changes: Changes = new Map()
    let sequence = this.#sequence
    for (const write of writes) {
      const table = this.#tables[write.collection]
      const id = 'put' in write ? table.shape.id(write.put) : write.remove
      const byId = changes.get(write.collection) ?? new Map<string, Change<AnyRecord>>()
      const stored = table.get(id)
      const change = byId.get(id) ?? { id, before: stored, after: stored }
      if ('put' in write) {
        if (!change.after) sequence += 1
        change.after = { sequence: change.after?.sequence ?? sequence, record: write.put }
      } else {
        change.after = undefined
      }
      changes.set(write.collection, byId.set(id, change))
    }
    return { changes, sequence }
  }

  async #write(undo: () => void): Promise<void> {
    try {
      await this.#low.write()
    } catch (error) {
      undo()
      throw error
    }
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(task)
    this.#queue = done.catch(() => undefined)
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

function place(records: Record<string, Stored<AnyRecord>>, id: string, stored: Stored<AnyRecord> | undefined): void {
  if (stored) records[id] = stored
  else delete records[id]
}

function emptyTables(): Tables {
  const shapes = SHAPES as unknown as Record<Collection, CollectionShape<AnyRecord>>
  return Object.fromEntries(COLLECTIONS.map((name) => [name, new Table(name, shapes[name])])) as Tables
}

function emptyDocument(): StoreDocument {
  return withPlainKeys({ sequence: 0, records: {} })
}

/** The document with records in objects without a prototype: ids such as `__proto__` are keys like any other. */
function withPlainKeys(document: { sequence: number; records: Partial<StoreDocument['records']> }): StoreDocument {
  const records = COLLECTIONS.map((name) => [name, Object.assign(Object.create(null), document.records[name])])
  return { sequence: document.sequence, records: Object.fromEntries(records) }
}
