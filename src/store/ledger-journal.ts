import type { Collection } from '../domain/ports/store.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import { breathe } from '../support/breathe.ts'
import { isSegment, type LedgerChanges, type LedgerEntry, type SegmentEntry, segmentIn } from './ledger-entry.ts'
import type { Stored } from './ordered-index.ts'
import { Segment, type UnpackedSegments } from './segment.ts'
import { type AnyRecord, type Change, COLLECTIONS, type Table, type Tables } from './table.ts'

type Put = LedgerChanges['puts'][number]

/** Collections whose records hardly ever change. Their sort keys are a moment and the id, and they have no unique index. */
export const PACKED: readonly Collection[] = ['transactions', 'idempotency_keys']

/** Limits of packing and rewriting, as numbers of records. */
export interface PackingSizes {
  /** Records of a collection that are packed together, sorted by scope: the more, the fewer segments a page needs. */
  batch: number
  /** Records in a segment: reading one record unpacks its whole segment. */
  segment: number
  /** Least number of superseded and removed records for which a journal is rewritten at start or stop. */
  garbage: number
  /** The same while the sandbox runs, when commits wait for the rewrite. */
  garbageUnderWay: number
}

/** A start reads 40,000 records in a third of a second. */
export const PACKING_SIZES: PackingSizes = { batch: 4096, segment: 256, garbage: 1000, garbageUnderWay: 40_000 }

/** Records in each entry behind the segments of a rewritten journal; the last entry may have fewer. */
export const RECORDS_PER_ENTRY = 100

/** Packs a table's loose records while other tasks change it: a packed record is equal to the loose one. */
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
 * Returns the tables' records as entries of a new journal, and the number of records in no segment. Dissolves segments that have
 * lost more records than they still hold.
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

/** Number of puts that are replayed before other tasks run. */
const PUTS_AT_ONCE = 256

/** Parses a segment when its turn comes. */
type ToParse = () => SegmentEntry

/** Result of loading entries. */
interface Loaded {
  /** The store's sequence. */
  sequence: number
  /** The latest business time in the entries, milliseconds since the Unix epoch; 0 if they have none. */
  at: number
  /** Number of puts in the entries; a record that changed counts each time. */
  puts: number
  /** Resolves when the packed collections are in their tables too; undefined if they already are. */
  filing: Promise<void> | undefined
}

/**
 * Fills empty tables from a journal or from these entries. If these begin with segments, the packed collections follow afterwards,
 * in the background: they are most of the ledger, and a start does not need them.
 */
export async function load(
  source: UnparsedJournal<LedgerEntry> | readonly LedgerEntry[],
  { tables, unpacked }: { tables: Tables; unpacked: UnpackedSegments },
): Promise<Loaded> {
  const segments: ToParse[] = []
  const changes: LedgerChanges[] = []
  let [sequence, puts, at] = [0, 0, 0]
  const add = (entry: LedgerChanges) => {
    sequence = entry.sequence
    at = Math.max(at, entry.at ?? 0)
    puts += entry.puts.length
    if (segments.length === 0) return replay(tables, entry)
    replay(
      tables,
      only(entry, (name) => !PACKED.includes(name)),
    )
    changes.push(only(entry, (name) => PACKED.includes(name)))
  }
  if ('readUnparsed' in source) {
    for await (const { json, parse } of source.readUnparsed()) {
      if (isSegment(json)) segments.push(() => segmentIn(json))
      else add(parse() as LedgerChanges)
    }
  } else {
    for (const entry of source) {
      if ('packed' in entry) segments.push(() => entry)
      else add(entry)
    }
  }
  return {
    sequence,
    at,
    puts,
    filing: segments.length === 0 ? undefined : file({ segments, changes }, tables, unpacked),
  }
}

/** The part of an entry that concerns some of the collections. */
function only({ sequence, puts, removes }: LedgerChanges, of: (collection: Collection) => boolean): LedgerChanges {
  return { sequence, puts: puts.filter(([name]) => of(name)), removes: removes.filter(([name]) => of(name)) }
}

/** Fills the packed collections piece by piece, and releases the memory of each piece. */
async function file(
  { segments, changes }: { segments: ToParse[]; changes: LedgerChanges[] },
  tables: Tables,
  unpacked: UnpackedSegments,
): Promise<void> {
  for (let parse = segments.shift(); parse; parse = segments.shift()) {
    const entry = parse()
    tables[entry.packed].addSegment(new Segment(entry, unpacked), new Set(entry.gone))
    await breathe()
  }
  let puts = 0
  for (const entry of changes) {
    replay(tables, entry)
    puts += entry.puts.length
    if (puts < PUTS_AT_ONCE) continue
    puts = 0
    await breathe()
  }
}

function replay(tables: Tables, { puts, removes }: LedgerChanges): void {
  const changes = new Map<Collection, Change<AnyRecord>[]>()
  const add = (name: Collection, id: string, after: Stored<AnyRecord> | undefined) => {
    const change = { id, before: tables[name].get(id), after }
    const known = changes.get(name)
    if (known) known.push(change)
    else changes.set(name, [change])
  }
  for (const [name, sequence, record] of puts) {
    const table = tables[name]
    add(name, table.shape.id(record), table.place(Object.freeze(record), sequence))
  }
  for (const [name, id] of removes) add(name, id, undefined)
  for (const [name, ofTable] of changes) tables[name].apply(ofTable)
}
