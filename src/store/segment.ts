import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib'
import type { Collection, SortKey } from '../domain/ports/store.ts'
import type { Stored } from './stored.ts'
import type { UnpackedSegments } from './unpacked-segments.ts'

/** Records of one collection as the journal has them: an index of them in columns, and the records compressed. */
export interface SegmentEntry {
  packed: Collection
  ids: string[]
  sequences: number[]
  /** Scopes of the ordered list, each with the number of records in a row that are of it. */
  scopes: [scope: string, count: number][]
  /** First members of the sort keys; the second one is the id. */
  moments: string[]
  /** Places of records that were changed or removed since. */
  gone: number[]
  /** The records as JSON, a line each, compressed with Brotli, as base64. */
  records: string
}

/** Twice as fast as Deflate and smaller: it finds what repeats from record to record. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const compress = promisify(brotliCompress)

/** Records that hardly ever change, compressed: read one by one when somebody asks for them. */
export class Segment {
  readonly collection: Collection
  readonly ids: readonly string[]
  readonly sequences: readonly number[]
  readonly scopes: readonly string[]
  readonly #moments: readonly string[]
  readonly #records: string
  readonly #unpacked: UnpackedSegments

  private constructor(entry: Omit<SegmentEntry, 'scopes' | 'gone'>, scopes: string[], unpacked: UnpackedSegments) {
    this.collection = entry.packed
    this.ids = entry.ids
    this.sequences = entry.sequences
    this.scopes = scopes
    this.#moments = entry.moments
    this.#records = entry.records
    this.#unpacked = unpacked
  }

  /** Compresses records, those of one scope next to each other. */
  static async pack(collection: Collection, stored: readonly Stored<object>[], unpacked: UnpackedSegments) {
    const lines = stored.map(({ record }) => JSON.stringify(record)).join('\n')
    const index = {
      packed: collection,
      ids: stored.map(({ key }) => key[1] ?? ''),
      sequences: stored.map(({ sequence }) => sequence),
      moments: stored.map(({ key }) => key[0] ?? ''),
    }
    const scopes = stored.map(({ scope }) => scope)
    const records = (await compress(lines, QUALITY)).toString('base64')
    return new Segment({ ...index, records }, scopes, unpacked)
  }

  /** The segment an entry stands for. */
  static of({ scopes, ...entry }: SegmentEntry, unpacked: UnpackedSegments): Segment {
    const each = scopes.flatMap(([scope, count]) => new Array<string>(count).fill(scope))
    return new Segment(entry, each, unpacked)
  }

  /** What the journal is to hold of it; `live` are the places of the records that are still to be seen. */
  entry(live: ReadonlySet<number>): SegmentEntry {
    const scopes: [string, number][] = []
    for (const scope of this.scopes) {
      const last = scopes.at(-1)
      if (last?.[0] === scope) last[1] += 1
      else scopes.push([scope, 1])
    }
    return {
      packed: this.collection,
      ids: [...this.ids],
      sequences: [...this.sequences],
      scopes,
      moments: [...this.#moments],
      gone: [...this.ids.keys()].filter((place) => !live.has(place)),
      records: this.#records,
    }
  }

  /** The sort key of the record at a place. */
  key(place: number): SortKey {
    return [this.#moments[place] ?? '', this.ids[place] ?? '']
  }

  /** The record at a place. Unpacks the segment if it was not read lately. */
  record(place: number): unknown {
    return this.#unpacked.record(this, place)
  }

  /** Every record's JSON. */
  unpack(): string[] {
    return brotliDecompressSync(Buffer.from(this.#records, 'base64')).toString().split('\n')
  }
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
    return this.segment.scopes[this.place] ?? ''
  }

  get key(): SortKey {
    return this.segment.key(this.place)
  }
}
