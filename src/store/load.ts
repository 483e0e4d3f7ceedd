import type { Collection } from '../domain/ports/store.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import { breathe } from '../support/breathe.ts'
import type { LedgerChanges, LedgerEntry } from './ledger-entry.ts'
import { PACKED } from './packing.ts'
import { Segment } from './segment.ts'
import { isSegment, type SegmentEntry, segmentIn } from './segment-entry.ts'
import type { Stored } from './stored.ts'
import type { Change } from './table.ts'
import type { AnyRecord, Tables } from './tables.ts'
import type { UnpackedSegments } from './unpacked-segments.ts'

/** Puts that are done again before others have their turn. */
const PUTS_AT_ONCE = 256

/** A segment that is parsed when its turn comes. */
type ToParse = () => SegmentEntry

/** What entries led to. */
interface Loaded {
  /** The store's sequence. */
  sequence: number
  /** The latest business time in them, milliseconds since the Unix epoch; 0 for none. */
  at: number
  /** Records put by them, over and over again those that changed. */
  puts: number
  /** Resolves when the packed collections are in their tables, too; undefined when all are. */
  filing: Promise<void> | undefined
}

/**
 * Puts into empty tables what a journal holds, or these entries say. If they begin with segments, collections that are packed
 * follow afterwards, beside everything else: they are most of it all, and a start needs none of them.
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

/** What an entry says of some collections. */
function only({ sequence, puts, removes }: LedgerChanges, of: (collection: Collection) => boolean): LedgerChanges {
  return { sequence, puts: puts.filter(([name]) => of(name)), removes: removes.filter(([name]) => of(name)) }
}

/** Does it piece by piece, and lets each piece go. */
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
