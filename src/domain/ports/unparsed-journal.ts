import type { Journal } from './journal.ts'

/** A journal that may be read without parsing all that it says. Apart from `journal.ts`, which the published types reach: `Buffer` is Node's. */
export interface UnparsedJournal<Entry> extends Journal<Entry> {
  /** As {@link Journal.read}. */
  readUnparsed(): AsyncIterable<UnparsedEntry<Entry>>
}

/** An entry as it is kept. */
export interface UnparsedEntry<Entry> {
  /** In UTF-8. */
  readonly json: Buffer
  parse(): Entry
}
