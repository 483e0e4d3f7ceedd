import type { PageQuery, PageResult, SortKey } from '../domain/ports/store.ts'

type Entry<T> = Omit<Stored<T>, 'scope'>

/** Neighbouring entries, and the smallest sequence among them, by which pages of an old snapshot skip the chunk. */
interface Chunk<T> {
  entries: Entry<T>[]
  oldest: number
}

/** Place of an entry; `chunk` is the number of chunks for a place behind the last one. */
interface Place {
  chunk: number
  offset: number
}

/** A position among entries: before (`-1`) or behind (`Infinity`) all entries with this key. */
type Position = Pick<Entry<unknown>, 'key' | 'sequence'>

const CHUNK_SIZE = 512

/**
 * The ordered list of one scope, stored ascending in chunks. Finding a place is a binary search, appending at the end is O(1)
 * amortised, and an insert elsewhere moves at most one chunk.
 */
export class OrderedIndex<T> {
  readonly #chunks: Chunk<T>[] = []
  readonly #order: 'asc' | 'desc'
  #size = 0

  /** `order`: the order in which pages are read. */
  constructor(order: 'asc' | 'desc') {
    this.#order = order
  }

  get size(): number {
    return this.#size
  }

  insert(entry: Entry<T>): void {
    this.#size += 1
    const last = this.#last
    if (!last || compare(last, entry) < 0) this.#append(entry)
    else this.#insertAt(this.#seek(entry), entry)
  }

  remove(entry: Position): void {
    const { place, chunk } = this.#locate(entry)
    this.#size -= 1
    chunk.entries.splice(place.offset, 1)
    if (chunk.entries.length === 0) this.#chunks.splice(place.chunk, 1)
    else if (chunk.oldest === entry.sequence) chunk.oldest = oldestOf(chunk.entries)
  }

  /** Replaces the entry with the same key and sequence. */
  replace(entry: Entry<T>): void {
    const { place, chunk } = this.#locate(entry)
    chunk.entries[place.offset] = entry
  }

  /** One page of the list, see {@link PageQuery}. */
  page({ after, before, limit, up_to = Number.POSITIVE_INFINITY }: Omit<PageQuery, 'scope'>): PageResult<T> {
    if (after && before) throw new RangeError('a page is read either after or before a position')
    const backward = before !== undefined
    const step = (this.#order === 'asc') === backward ? -1 : 1
    const start = this.#start(after ?? before, step)
    const found = this.#walk(start, step, limit, up_to)

    const [firstOfAll, lastOfAll] = step === 1 ? [this.#first, this.#last] : [this.#last, this.#first]
    const first = found[0] ?? this.#at(start)
    const last = found.at(-1)
    const behind = first ? first !== firstOfAll : this.#size > 0
    const ahead = last ? last !== lastOfAll : first !== undefined
    if (backward) found.reverse()
    return {
      items: found.map((entry) => entry.record),
      has_next: backward ? behind : ahead,
      has_previous: backward ? ahead : behind,
    }
  }

  get #first(): Entry<T> | undefined {
    return this.#chunks[0]?.entries[0]
  }

  get #last(): Entry<T> | undefined {
    return this.#chunks.at(-1)?.entries.at(-1)
  }

  #at(place: Place): Entry<T> | undefined {
    return this.#chunks[place.chunk]?.entries[place.offset]
  }

  /** Place at which a walk begins: next to the key, or at the list's own end. */
  #start(key: SortKey | undefined, step: 1 | -1): Place {
    if (step === 1) return key ? this.#seek({ key, sequence: Number.POSITIVE_INFINITY }) : { chunk: 0, offset: 0 }
    const behind = key ? this.#seek({ key, sequence: -1 }) : { chunk: this.#chunks.length, offset: 0 }
    if (behind.offset > 0) return { chunk: behind.chunk, offset: behind.offset - 1 }
    const chunk = behind.chunk - 1
    return { chunk, offset: (this.#chunks[chunk]?.entries.length ?? 0) - 1 }
  }

  /** Up to `limit` entries with a sequence of at most `up_to`, from a place on, one by one. */
  #walk(start: Place, step: 1 | -1, limit: number, up_to: number): Entry<T>[] {
    const found: Entry<T>[] = []
    let offset: number | undefined = start.offset
    for (let at = start.chunk; found.length < limit; at += step, offset = undefined) {
      const chunk = this.#chunks[at]
      if (!chunk) break
      if (chunk.oldest > up_to) continue
      for (let i = offset ?? (step === 1 ? 0 : chunk.entries.length - 1); found.length < limit; i += step) {
        const entry = chunk.entries[i]
        if (!entry) break
        if (entry.sequence <= up_to) found.push(entry)
      }
    }
    return found
  }

  /** Place of the first entry at or behind a position. */
  #seek(position: Position): Place {
    const chunk = firstIndex(this.#chunks, ({ entries }) => {
      const last = entries.at(-1)
      return last !== undefined && compare(last, position) >= 0
    })
    const entries = this.#chunks[chunk]?.entries ?? []
    return { chunk, offset: firstIndex(entries, (entry) => compare(entry, position) >= 0) }
  }

  #locate(position: Position): { place: Place; chunk: Chunk<T> } {
    const place = this.#seek(position)
    const chunk = this.#chunks[place.chunk]
    const entry = chunk?.entries[place.offset]
    if (!chunk || !entry || compare(entry, position) !== 0) throw new Error('the entry is not in the ordered index')
    return { place, chunk }
  }

  #append(entry: Entry<T>): void {
    const chunk = this.#chunks.at(-1)
    if (!chunk || chunk.entries.length === CHUNK_SIZE) {
      this.#chunks.push({ entries: [entry], oldest: entry.sequence })
      return
    }
    chunk.entries.push(entry)
    chunk.oldest = Math.min(chunk.oldest, entry.sequence)
  }

  #insertAt(place: Place, entry: Entry<T>): void {
    const chunk = this.#chunks[place.chunk]
    if (!chunk) throw new RangeError('there is no such place')
    chunk.entries.splice(place.offset, 0, entry)
    chunk.oldest = Math.min(chunk.oldest, entry.sequence)
    if (chunk.entries.length <= CHUNK_SIZE) return
    const upper = chunk.entries.splice(CHUNK_SIZE / 2)
    chunk.oldest = oldestOf(chunk.entries)
    this.#chunks.splice(place.chunk + 1, 0, { entries: upper, oldest: oldestOf(upper) })
  }
}

function oldestOf(entries: readonly Position[]): number {
  return entries.reduce((oldest, { sequence }) => Math.min(oldest, sequence), Number.POSITIVE_INFINITY)
}

/** Entries with equal keys are in the order of their first put. */
function compare(a: Position, b: Position): number {
  const byKey = compareKeys(a.key, b.key)
  if (byKey !== 0 || a.sequence === b.sequence) return byKey
  return a.sequence < b.sequence ? -1 : 1
}

/** Compares member by member, by code unit. */
export function compareKeys(a: SortKey, b: SortKey): number {
  const members = Math.min(a.length, b.length)
  for (let i = 0; i < members; i++) {
    const x = a[i] ?? ''
    const y = b[i] ?? ''
    if (x !== y) return x < y ? -1 : 1
  }
  return a.length - b.length
}

/** Index of the first item that passes, in a list where all items after it pass too. */
function firstIndex<T>(items: readonly T[], passes: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = items[middle]
    if (item !== undefined && passes(item)) high = middle
    else low = middle + 1
  }
  return low
}

/** A record with its position in the ordered list. */
export interface Stored<T> {
  readonly record: T
  /** Number of records that the store had put for the first time when it put this one. */
  readonly sequence: number
  /** The ordered list, and the position in it. */
  readonly scope: string
  readonly key: SortKey
}
