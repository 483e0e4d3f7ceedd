import { RecentlyUsed } from '../support/recently-used.ts'

/** Compressed records. */
interface Packed {
  /** Every record's JSON. */
  unpack(): string[]
}

/** Segments kept unpacked, of some 200 KB each: as many as a walk through one scope's records after the other meets. */
const KEPT = 32

/** The segments that were read last, unpacked. */
export class UnpackedSegments {
  /** A record is JSON until it is asked for. */
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
