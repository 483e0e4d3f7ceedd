import type { CollectionShape, PageQuery, PageResult } from '../domain/ports/store.ts'
import { type Entry, OrderedIndex } from './ordered-index.ts'

/** A record as it is kept: with the store's sequence when it was first put. */
export interface Stored<T> {
  sequence: number
  record: T
}

/** What one commit does to one record: what stood under the id before and what stands there after. */
export interface Change<T> {
  id: string
  before: Stored<T> | undefined
  after: Stored<T> | undefined
}

/** Which record has a value; `staged` is what the staged changes make of it, undefined where they free it. */
interface UniqueIndex<T> {
  name: string
  project: (record: T) => string
  ids: Map<string, string>
  staged: Map<string, string | undefined>
}

/**
 * One collection in memory with the indexes its shape names. Changes are staged while they are being written, one on top
 * of the other, and are seen by readers only once they are applied.
 */
export class Table<T> {
  readonly shape: CollectionShape<T>
  readonly #name: string
  readonly #records = new Map<string, Stored<T>>()
  readonly #unique: UniqueIndex<T>[]
  readonly #lists = new Map<string, OrderedIndex<T>>()
  readonly #staged = new Map<string, Change<T>>()

  constructor(name: string, shape: CollectionShape<T>) {
    this.#name = name
    this.shape = shape
    const unique = Object.entries(shape.unique ?? {})
    this.#unique = unique.map(([index, project]) => ({ name: index, project, ids: new Map(), staged: new Map() }))
  }

  get size(): number {
    return this.#records.size
  }

  get(id: string): Stored<T> | undefined {
    return this.#records.get(id)
  }

  /** The record as it will be once what is staged is applied. */
  latest(id: string): Stored<T> | undefined {
    const staged = this.#staged.get(id)
    return staged ? staged.after : this.#records.get(id)
  }

  /** Every record with its sequence, in no particular order. */
  all(): Iterable<Stored<T>> {
    return this.#records.values()
  }

  /** Look-up by a unique index. Throws RangeError when the collection has no such index. */
  find(index: string, value: string): T | undefined {
    const unique = this.#unique.find(({ name }) => name === index)
    if (!unique) throw new RangeError(`${this.#name} has no unique index ${index}`)
    const id = unique.ids.get(value)
    return id === undefined ? undefined : this.#records.get(id)?.record
  }

  /** Throws RangeError when the collection has no ordered list. */
  page({ scope, ...query }: PageQuery): PageResult<T> {
    this.#requireList()
    const list = this.#lists.get(scope)
    return list ? list.page(query) : { items: [], has_next: false, has_previous: false }
  }

  /** Throws RangeError when the collection has no ordered list. */
  count(scope: string): number {
    this.#requireList()
    return this.#lists.get(scope)?.size ?? 0
  }

  /** Throws when the table, with what is staged, would hold a unique value twice after the changes. */
  checkUnique(changes: readonly Change<T>[]): void {
    for (const { name, project, ids, staged } of this.#unique) {
      const freed = new Set(changes.map((change) => change.id))
      const claimed = new Set<string>()
      for (const { after } of changes) {
        if (!after) continue
        const value = project(after.record)
        const owner = staged.has(value) ? staged.get(value) : ids.get(value)
        if (claimed.has(value) || (owner !== undefined && !freed.has(owner))) {
          throw new Error(`${this.#name} already holds a record with this ${name}: ${value}`)
        }
        claimed.add(value)
      }
    }
  }

  /** Puts changes that were checked on top of those staged. */
  stage(changes: readonly Change<T>[]): void {
    for (const { id, after } of changes) {
      this.#staged.set(id, { id, before: this.get(id), after })
    }
    for (const { project, staged } of this.#unique) {
      for (const { before } of changes) if (before) staged.set(project(before.record), undefined)
      for (const { id, after } of changes) if (after) staged.set(project(after.record), id)
    }
  }

  /** What is staged, as one change per record. */
  staged(): Iterable<Change<T>> {
    return this.#staged.values()
  }

  /** Lets readers see what is staged; cannot fail half-way. */
  applyStaged(): void {
    this.apply([...this.#staged.values()])
    this.dropStaged()
  }

  /** Applies changes, one per record, to what readers see; cannot fail half-way. */
  apply(changes: readonly Change<T>[]): void {
    // What goes leaves every index before anything comes: two records may swap a unique value.
    for (const { id, before, after } of changes) {
      if (!before) continue
      if (!after) this.#records.delete(id)
      for (const { project, ids } of this.#unique) ids.delete(project(before.record))
      if (!after || !this.#samePlace(before, after)) this.#unlist(before)
    }
    for (const { id, before, after } of changes) {
      if (!after) continue
      this.#records.set(id, after)
      for (const { project, ids } of this.#unique) ids.set(project(after.record), id)
      this.#enlist(after, before !== undefined && this.#samePlace(before, after))
    }
  }

  dropStaged(): void {
    this.#staged.clear()
    for (const { staged } of this.#unique) staged.clear()
  }

  #requireList(): void {
    if (!this.shape.list) throw new RangeError(`${this.#name} has no ordered list`)
  }

  #entry({ record, sequence }: Stored<T>): Entry<T> {
    return { record, sequence, key: this.shape.list?.key(record) ?? [] }
  }

  #samePlace(a: Stored<T>, b: Stored<T>): boolean {
    const list = this.shape.list
    if (!list || a.sequence !== b.sequence || list.scope(a.record) !== list.scope(b.record)) return false
    const key = list.key(b.record)
    return list.key(a.record).every((member, i) => member === key[i])
  }

  #unlist(stored: Stored<T>): void {
    if (!this.shape.list) return
    const scope = this.shape.list.scope(stored.record)
    const list = this.#lists.get(scope)
    list?.remove(this.#entry(stored))
    if (list?.size === 0) this.#lists.delete(scope)
  }

  #enlist(stored: Stored<T>, inPlace: boolean): void {
    if (!this.shape.list) return
    const scope = this.shape.list.scope(stored.record)
    let list = this.#lists.get(scope)
    if (!list) {
      list = new OrderedIndex(this.shape.list.order)
      this.#lists.set(scope, list)
    }
    if (inPlace) list.replace(this.#entry(stored))
    else list.insert(this.#entry(stored))
  }
}
