import type { Collection, Collections } from '../domain/ports/store.ts'

/** What one write to the journal changes: for each record, what it is afterwards. */
export interface LedgerChanges {
  /** The store's sequence afterwards. */
  sequence: number
  /** Business time when it was written, milliseconds since the Unix epoch; journals of earlier releases have none. */
  at?: number
  puts: [collection: Collection, sequence: number, record: Collections[Collection]][]
  removes: [collection: Collection, id: string][]
}

/** A line of the ledger's journal. Segments stand before all changes: what these say of a record holds. */
export type LedgerEntry = LedgerChanges | SegmentEntry

/** Records of one collection as the journal has them: an index of them in columns, and the records compressed. */
export interface SegmentEntry {
  /** It stands first in the JSON. */
  packed: Collection
  ids: readonly string[]
  sequences: readonly number[]
  /** Scopes of the ordered list, each with the number of records in a row that are of it. */
  scopes: readonly (readonly [scope: string, count: number])[]
  /** First members of the sort keys; the second one is the id. */
  moments: readonly string[]
  /** Places of records that were changed or removed since. */
  gone: readonly number[]
  /** The records as JSON, a line each, compressed with Brotli, as base64. They stand last in the JSON, and are most of it. */
  records: string
}

const FIRST = '{"packed":'
const LAST = ',"records":"'
const END = '"}'

/** @returns true if the JSON of a ledger's entry is a segment's. */
export function isSegment(json: Buffer): boolean {
  return json.toString('latin1', 0, FIRST.length) === FIRST
}

/** The entry that the JSON of a segment stands for: in a third of the time that JSON.parse takes for such long texts. */
export function segmentIn(json: Buffer): SegmentEntry {
  const at = json.lastIndexOf(LAST)
  const index: Omit<SegmentEntry, 'records'> = JSON.parse(`${json.toString('utf8', 0, at)}}`)
  return { ...index, records: json.toString('latin1', at + LAST.length, json.length - END.length) }
}
