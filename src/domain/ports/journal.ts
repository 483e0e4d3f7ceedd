/** An entry could not be written; the message gives the reason. Entries written earlier are not lost. */
export class NotKeptError extends Error {
  override readonly name: string = 'NotKeptError'
  readonly code: string = 'not_kept'
}

/** An append-only log of entries, each one JSON value. */
export interface Journal<Entry> {
  /** Every entry so far, oldest first. */
  read(): AsyncIterable<Entry>
  /** Resolves when the entry would survive the death of this process. Entries keep the order of the calls. */
  append(entry: Entry): Promise<void>
  /** Replaces all entries by these, all or nothing. Appends called later follow them. */
  rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void>
  /** Bytes (or an estimate) of all entries. */
  readonly size: number
  close(): Promise<void>
}
