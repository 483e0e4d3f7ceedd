/** Compressed records. */
interface Packed {
  /** Every record's JSON. */
  unpack(): string[]
}

/** Segments kept unpacked, of some 200 KB each: as many as a walk through one scope's records after the other meets. */
const KEPT = 32

/** The segments that were read last, unpacked. */
export class UnpackedSegments {
  /** The least recently used first. A record is JSON until it is asked for. */
  readonly #segments = new Map<Packed, (string | object)[]>()

  /** A segment's record, frozen. */
  record(segment: Packed, place: number): object {
    const records = this.#use(segment)
    const record = records[place]
    if (record === undefined) throw new RangeError('there is no such place')
    if (typeof record === 'object') return record
    const parsed: object = Object.freeze(JSON.parse(record))
    records[place] = parsed
    return parsed
  }

  #use(segment: Packed): (string | object)[] {
    const records = this.#segments.get(segment) ?? segment.unpack()
    this.#segments.delete(segment)
    this.#segments.set(segment, records)
    for (const oldest of this.#segments.keys()) {
      if (this.#segments.size <= KEPT) break
      this.#segments.delete(oldest)
    }
    return records
  }
}
