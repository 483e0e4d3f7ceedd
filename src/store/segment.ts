import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib'
import type { Collection, SortKey } from '../domain/ports/store.ts'
import { RecentlyUsed } from '../support/maps.ts'
import type { SegmentEntry } from './ledger-entry.ts'
import type { Stored } from './ordered-index.ts'

/** At this quality Brotli is twice as fast as Deflate and its output smaller: it finds repetitions from record to record. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const compress = promisify(brotliCompress)

/** Records that hardly ever change, compressed; each is parsed when it is read. */
export class Segment {
  readonly collection: Collection
  readonly ids: readonly string[]
  readonly sequences: readonly number[]
  readonly scopes: SegmentEntry['scopes']
  readonly #moments: readonly string[]
  readonly #records: string
  readonly #unpacked: UnpackedSegments

  constructor(entry: Omit<SegmentEntry, 'gone'>, unpacked: UnpackedSegments) {
    const { packed, ids, sequences, scopes, moments, records } = entry
    this.collection = packed
    this.ids = ids
    this.sequences = sequences
    this.scopes = scopes
    this.#moments = moments
    this.#records = records
    this.#unpacked = unpacked
  }

  /** Compresses records; those of one scope must be next to each other. */
  static async pack(collection: Collection, stored: readonly Stored<object>[], unpacked: UnpackedSegments) {
    const lines = stored.map(({ record }) => JSON.stringify(record)).join('\n')
    const records = (await compress(lines, QUALITY)).toString('base64')
    const entry = {
      packed: collection,
      ids: stored.map(({ key }) => key[1] ?? ''),
      sequences: stored.map(({ sequence }) => sequence),
      scopes: runsOf(stored.map(({ scope }) => scope)),
      moments: stored.map(({ key }) => key[0] ?? ''),
      records,
    }
    return new Segment(entry, unpacked)
  }

  /** The segment as an entry of the journal; `live` are the places of the records that are still valid. */
  entry(live: ReadonlySet<number>): SegmentEntry {
    return {
      packed: this.collection,
      ids: this.ids,
      sequences: this.sequences,
      scopes: this.scopes,
      moments: this.#moments,
      gone: [...this.ids.keys()].filter((place) => !live.has(place)),
      records: this.#records,
    }
  }

  /** The scope of the record at a place. */
  scope(place: number): string {
    let end = 0
    for (const [scope, count] of this.scopes) {
      end += count
      if (place < end) return scope
    }
    return ''
  }

  /** The sort key of the record at a place. */
  key(place: number): SortKey {
    return [this.#moments[place] ?? '', this.ids[place] ?? '']
  }

  /** The record at a place. Unpacks the segment unless it was read recently. */
  record(place: number): unknown {
    return this.#unpacked.record(this, place)
  }

  /** The JSON of every record. */
  unpack(): string[] {
    return brotliDecompressSync(Buffer.from(this.#records, 'base64')).toString().split('\n')
  }
}

/** Values with the length of each run (run-length encoding). */
function runsOf(values: readonly string[]): [value: string, count: number][] {
  const runs: [string, number][] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last?.[0] === value) last[1] += 1
    else runs.push([value, 1])
  }
  return runs
}

/** A record at its place in a segment. */
export class PackedRecord<T> implements Stored<T> {
  readonly segment: Segment
  readonly place: number

  constructor(segment: Segment, place: number) {
    this.segment = segment
    this.place = place
  }

  get record(): T {
    return this.segment.record(this.place) as T
  }

  get sequence(): number {
    return this.segment.sequences[this.place] ?? 0
  }

  get scope(): string {
    return this.segment.scope(this.place)
  }

  get key(): SortKey {
    return this.segment.key(this.place)
  }
}

/** Compressed records. */
interface Packed {
  /** The JSON of every record. */
  unpack(): string[]
}

/** Number of segments kept unpacked, of some 200 KB each: enough for a walk through the records of one scope after the other. */
const KEPT = 32

/** The segments that were read last, unpacked. */
export class UnpackedSegments {
  /** Each record is JSON text until its first read. */
  readonly #segments = new RecentlyUsed<Packed, (string | object)[]>(KEPT)

  /** A segment's record, frozen. */
  record(segment: Packed, place: number): object {
    const records: (string | object)[] = this.#segments.use(segment, () => segment.unpack())
    const record = records[place]
    if (record === undefined) throw new RangeError('there is no such place')
    if (typeof record === 'object') return record
    const parsed: object = Object.freeze(JSON.parse(record))
    records[place] = parsed
    return parsed
  }
}
