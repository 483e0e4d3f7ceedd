import type { UnparsedEntry, UnparsedJournal } from '../domain/ports/unparsed-journal.ts'

/** A journal that keeps nothing but its size: for a ledger in memory that may not become larger than a quota. */
export class MeasuredJournal<Entry> implements UnparsedJournal<Entry> {
  size = 0

  async *read(): AsyncGenerator<Entry> {}

  async *readUnparsed(): AsyncGenerator<UnparsedEntry<Entry>> {}

  async append(entry: Entry): Promise<void> {
    this.size += bytesOf(entry)
  }

  async rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    let size = 0
    for await (const entry of entries) size += bytesOf(entry)
    this.size = size
  }

  async close(): Promise<void> {}
}

/** Bytes of a line of the journal. */
function bytesOf(entry: unknown): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1
}
