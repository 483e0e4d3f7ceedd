/** Something could not be written where it is to be kept; the message says why. Nothing that was kept is lost. */
export class NotKeptError extends Error {
  override readonly name: string = 'NotKeptError'
  readonly code: string = 'not_kept'
}

/** An append-only log of entries, each one JSON value. */
export interface Journal<Entry> {
  /** Every entry so far, oldest first. */
  read(): AsyncIterable<Entry>
  /** Kept, should this process die, when it resolves. Entries stand in the order of the calls. */
  append(entry: Entry): Promise<void>
  /** Puts these entries in the place of all there were, all or nothing. Appends called later follow them. */
  rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void>
  /** Bytes (or an estimate) of all entries. */
  readonly size: number
  close(): Promise<void>
}
