import {
  type Collection,
  type CollectionShape,
  type Collections,
  type PageQuery,
  type PageResult,
  SHAPES,
} from '../domain/ports/store.ts'
import { compareKeys, OrderedIndex, type Stored } from './ordered-index.ts'
import { PackedRecord, type Segment } from './segment.ts'

/** Effect of one commit on one record: its state before and after. */
export interface Change<T> {
  id: string
  before: Stored<T> | undefined
  after: Stored<T> | undefined
}

/** Ids by unique value; `staged` has the ids after the staged changes, undefined for values that they free. */
interface UniqueIndex<T> {
  name: string
  project: (record: T) => string
  ids: Map<string, string>
  staged: Map<string, string | undefined>
}

/**
 * One collection in memory with the indexes that its shape names. Changes are staged, one on top of the other, while they are being
 * written; readers see them only once they are applied.
 */
export class Table<T> {
  readonly shape: CollectionShape<T>
  readonly #name: string
  readonly #records = new Map<string, Stored<T>>()
  /** Ids of the records in no segment. */
  readonly #loose = new Set<string>()
  /** In order of creation. */
  readonly #segments = new Set<Segment>()
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

  /** Number of records in no segment. */
  get loose(): number {
    return this.#loose.size
  }

  /** Adds its position in the ordered list to a record. */
  place(record: T, sequence: number): Stored<T> {
    const { list } = this.shape
    return { record, sequence, scope: list?.scope(record) ?? '', key: list?.key(record) ?? [] }
  }

  get(id: string): Stored<T> | undefined {
    return this.#records.get(id)
  }

  /** The record after the staged changes. */
  latest(id: string): Stored<T> | undefined {
    const staged = this.#staged.get(id)
    return staged ? staged.after : this.#records.get(id)
  }

  /** Look-up by a unique index. Throws RangeError if the collection has no such index. */
  find(index: string, value: string): T | undefined {
    const unique = this.#unique.find(({ name }) => name === index)
    if (!unique) throw new RangeError(`${this.#name} has no unique index ${index}`)
    const id = unique.ids.get(value)
    return id === undefined ? undefined : this.#records.get(id)?.record
  }

  /** Throws RangeError if the collection has no ordered list. */
  page({ scope, ...query }: PageQuery): PageResult<T> {
    this.#requireList()
    const list = this.#lists.get(scope)
    return list ? list.page(query) : { items: [], has_next: false, has_previous: false }
  }

  /** Throws RangeError if the collection has no ordered list. */
  count(scope: string): number {
    this.#requireList()
    return this.#lists.get(scope)?.size ?? 0
  }

  /** Throws if the table, with the staged changes, would hold a unique value twice after these changes. */
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

  /** Stages checked changes on top of those staged. */
  stage(changes: readonly Change<T>[]): void {
    for (const { id, after } of changes) {
      this.#staged.set(id, { id, before: this.get(id), after })
    }
    for (const { project, staged } of this.#unique) {
      for (const { before } of changes) if (before) staged.set(project(before.record), undefined)
      for (const { id, after } of changes) if (after) staged.set(project(after.record), id)
    }
  }

  /** The staged changes, one per record. */
  staged(): Iterable<Change<T>> {
    return this.#staged.values()
  }

  /** Makes the staged changes visible to readers; cannot fail half-way. */
  applyStaged(): void {
    this.apply([...this.#staged.values()])
    this.dropStaged()
  }

  /** Applies changes, one per record, to the state that readers see; cannot fail half-way. */
  apply(changes: readonly Change<T>[]): void {
    // Remove every old record from the indexes before adding a new one: two records may swap a unique value.
    for (const { id, before, after } of changes) {
      if (!before) continue
      if (!after) {
        this.#records.delete(id)
        this.#loose.delete(id)
      }
      for (const { project, ids } of this.#unique) ids.delete(project(before.record))
      if (!after || !samePlace(before, after)) this.#unlist(before)
    }
    for (const { id, before, after } of changes) {
      if (!after) continue
      this.#records.set(id, after)
      this.#loose.add(id)
      for (const { project, ids } of this.#unique) ids.set(project(after.record), id)
      this.#enlist(after, before !== undefined && samePlace(before, after))
    }
  }

  dropStaged(): void {
    this.#staged.clear()
    for (const { staged } of this.#unique) staged.clear()
  }

  /** The records in no segment, those of one scope next to each other and in order. */
  looseRecords(): Stored<T>[] {
    const loose = [...this.#loose].flatMap((id) => this.#records.get(id) ?? [])
    return loose.sort((a, b) => compareKeys([a.scope, ...a.key], [b.scope, ...b.key]))
  }

  /** Replaces the records that a segment was packed from, except those changed or removed since. */
  adopt(segment: Segment, packed: readonly Stored<T>[]): void {
    this.#segments.add(segment)
    for (const [place, stored] of packed.entries()) {
      const id = segment.ids[place] ?? ''
      if (this.#records.get(id) !== stored) continue
      this.#replace(id, new PackedRecord(segment, place))
      this.#loose.delete(id)
    }
  }

  /** Adds the records of a segment, which are new to the table. */
  addSegment(segment: Segment, gone: ReadonlySet<number>): void {
    this.#segments.add(segment)
    for (const [place, id] of segment.ids.entries()) {
      if (gone.has(place)) continue
      const stored = new PackedRecord<T>(segment, place)
      this.#records.set(id, stored)
      this.#enlist(stored, false)
    }
  }

  /** Its segments in order of creation, each with the places of the records that are still valid. */
  segments(): [Segment, Set<number>][] {
    return [...this.#segments].map((segment) => {
      const places = segment.ids.flatMap((id, place) => (this.#isIn(segment, place, id) ? [place] : []))
      return [segment, new Set(places)]
    })
  }

  /** Makes the valid records of a segment loose, and drops the segment. */
  dissolve(segment: Segment): void {
    this.#segments.delete(segment)
    for (const [place, id] of segment.ids.entries()) {
      if (!this.#isIn(segment, place, id)) continue
      const stored = new PackedRecord<T>(segment, place)
      this.#replace(id, this.place(stored.record, stored.sequence))
      this.#loose.add(id)
    }
  }

  #isIn(segment: Segment, place: number, id: string): boolean {
    const stored = this.#records.get(id)
    return stored instanceof PackedRecord && stored.segment === segment && stored.place === place
  }

  /** Replaces a record by another form of the same record. */
  #replace(id: string, stored: Stored<T>): void {
    this.#records.set(id, stored)
    this.#enlist(stored, true)
  }

  #requireList(): void {
    if (!this.shape.list) throw new RangeError(`${this.#name} has no ordered list`)
  }

  #unlist(stored: Stored<T>): void {
    if (!this.shape.list) return
    const list = this.#lists.get(stored.scope)
    list?.remove(stored)
    if (list?.size === 0) this.#lists.delete(stored.scope)
  }

  #enlist(stored: Stored<T>, inPlace: boolean): void {
    if (!this.shape.list) return
    let list = this.#lists.get(stored.scope)
    if (!list) {
      list = new OrderedIndex(this.shape.list.order)
      this.#lists.set(stored.scope, list)
    }
    if (inPlace) list.replace(stored)
    else list.insert(stored)
  }
}

function samePlace(a: Stored<unknown>, b: Stored<unknown>): boolean {
  return a.sequence === b.sequence && a.scope === b.scope && compareKeys(a.key, b.key) === 0
}

/** A record of any collection. */
export type AnyRecord = Collections[Collection]

/** The table of each collection. */
export type Tables = Record<Collection, Table<AnyRecord>>

export const COLLECTIONS = Object.keys(SHAPES) as Collection[]

export function emptyTables(): Tables {
  const shapes = SHAPES as unknown as Record<Collection, CollectionShape<AnyRecord>>
  return Object.fromEntries(COLLECTIONS.map((name) => [name, new Table(name, shapes[name])])) as Tables
}
