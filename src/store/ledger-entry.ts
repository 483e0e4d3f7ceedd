import type { Collection, Collections } from '../domain/ports/store.ts'

/** What one write to the journal changes: for each record, what it is afterwards. */
export interface LedgerEntry {
  /** The store's sequence afterwards. */
  sequence: number
  puts: [collection: Collection, sequence: number, record: Collections[Collection]][]
  removes: [collection: Collection, id: string][]
}
