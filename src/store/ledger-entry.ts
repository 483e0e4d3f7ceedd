import type { Collection, Collections } from '../domain/ports/store.ts'
import type { SegmentEntry } from './segment-entry.ts'

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
