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
  /** Ids of the records that are in no segment. */
  readonly #loose = new Set<string>()
  /** In the order of their making. */
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

  /** Records that are in no segment. */
  get loose(): number {
    return this.#loose.size
  }

  /** A record in its place. */
  place(record: T, sequence: number): Stored<T> {
    const { list } = this.shape
    return { record, sequence, scope: list?.scope(record) ?? '', key: list?.key(record) ?? [] }
  }

  get(id: string): Stored<T> | undefined {
    return this.#records.get(id)
  }

  /** The record as it will be once what is staged is applied. */
  latest(id: string): Stored<T> | undefined {
    const staged = this.#staged.get(id)
    return staged ? staged.after : this.#records.get(id)
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

  /** The records that are in no segment, those of one scope next to each other and in order. */
  looseRecords(): Stored<T>[] {
    const loose = [...this.#loose].flatMap((id) => this.#records.get(id) ?? [])
    return loose.sort((a, b) => compareKeys([a.scope, ...a.key], [b.scope, ...b.key]))
  }

  /** Puts a segment in the place of the records it was packed from, but for those that were changed or removed since. */
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

  /** Its segments in the order of their making, each with the places of the records it still has. */
  segments(): [Segment, Set<number>][] {
    return [...this.#segments].map((segment) => {
      const places = segment.ids.flatMap((id, place) => (this.#isIn(segment, place, id) ? [place] : []))
      return [segment, new Set(places)]
    })
  }

  /** Takes what is left of a segment out of it. */
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

  /** Another form of the same record. */
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
