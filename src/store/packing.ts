import type { Collection } from '../domain/ports/store.ts'
import type { LedgerChanges, LedgerEntry } from './ledger-entry.ts'
import { Segment } from './segment.ts'
import type { SegmentEntry } from './segment-entry.ts'
import type { Table } from './table.ts'
import { type AnyRecord, COLLECTIONS, type Tables } from './tables.ts'
import type { UnpackedSegments } from './unpacked-segments.ts'

type Put = LedgerChanges['puts'][number]

/** Collections whose records hardly ever change. Their sort keys are a moment and the id, and they have no unique index. */
export const PACKED: readonly Collection[] = ['transactions', 'idempotency_keys']

/** How records are packed. */
export interface PackingSizes {
  /** Records of a collection that wait to be packed together, sorted by scope: the more, the fewer segments a page takes. */
  batch: number
  /** Records in a segment: a record is read with all of its segment. */
  segment: number
  /** Fewer superseded and removed records than this are not worth rewriting a journal for. */
  garbage: number
  /** So many are, while commits wait for it. */
  garbageUnderWay: number
}

/** A start reads 40,000 records in a third of a second. */
export const PACKING_SIZES: PackingSizes = { batch: 4096, segment: 256, garbage: 1000, garbageUnderWay: 40_000 }

/** In each entry behind the segments of a journal that is written anew, but for the last one. */
export const RECORDS_PER_ENTRY = 100

/** Packs a table's loose records, beside what else happens to it: a record is the same packed or not. */
export async function packTable(
  [collection, table]: [Collection, Table<AnyRecord>],
  { segment: size, unpacked, ended }: { segment: number; unpacked: UnpackedSegments; ended(): boolean },
): Promise<void> {
  const loose = table.looseRecords()
  for (let at = 0; at < loose.length && !ended(); at += size) {
    const records = loose.slice(at, at + size)
    table.adopt(await Segment.pack(collection, records, unpacked), records)
  }
}

/**
 * What the tables hold, as entries of a new journal, and how many records of them are in no segment. Segments with more
 * gone than left are dissolved.
 */
export function compacted(
  tables: Tables,
  { sequence, at }: Pick<LedgerChanges, 'sequence' | 'at'>,
): { entries: Iterable<LedgerEntry>; loose: number } {
  const segments: SegmentEntry[] = []
  for (const table of PACKED.map((name) => tables[name])) {
    for (const [segment, live] of table.segments()) {
      if (2 * live.size < segment.ids.length) table.dissolve(segment)
      else segments.push(segment.entry(live))
    }
  }
  const puts = COLLECTIONS.flatMap((name) =>
    tables[name].looseRecords().map(({ sequence, record }): Put => [name, sequence, record]),
  )
  return { entries: entriesOf(segments, puts, { sequence, ...(at !== undefined && { at }) }), loose: puts.length }
}

function* entriesOf(
  segments: SegmentEntry[],
  puts: Put[],
  as: Pick<LedgerChanges, 'sequence' | 'at'>,
): Iterable<LedgerEntry> {
  yield* segments
  for (let at = 0; at === 0 || at < puts.length; at += RECORDS_PER_ENTRY) {
    yield { ...as, puts: puts.slice(at, at + RECORDS_PER_ENTRY), removes: [] }
  }
}
