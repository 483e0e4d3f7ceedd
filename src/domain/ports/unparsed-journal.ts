import type { Journal } from './journal.ts'

/** A journal whose entries can be read unparsed. Not in `journal.ts`, which the published types reach, because `Buffer` is Node's. */
export interface UnparsedJournal<Entry> extends Journal<Entry> {
  /** As {@link Journal.read}. */
  readUnparsed(): AsyncIterable<UnparsedEntry<Entry>>
}

/** An entry in its stored form. */
export interface UnparsedEntry<Entry> {
  /** UTF-8. */
  readonly json: Buffer
  parse(): Entry
}
