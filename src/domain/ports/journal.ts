/**
 * An entry could not be written, and it is certain that it never will be; the message gives the reason. Entries written earlier are
 * not lost.
 */
export class NotKeptError extends Error {
  override readonly name: string = 'NotKeptError'
  readonly code: string = 'not_kept'
}

/**
 * This process is not the owner of the journal any more. Entries whose append rejects with it may have been kept: only the new owner
 * knows. Nothing may be answered or written from then on.
 */
export class NotOwnerError extends Error {
  override readonly name = 'NotOwnerError'
  readonly code = 'not_owner'
}

/** How an entry is to be stored, if not in the usual way. */
export interface AppendWish {
  /**
   * True if entries of other journals follow within milliseconds, which an {@link Journal.ordered} journal may store in the same write.
   * If the entry is refused then, the namespace is lost: what followed it must not stand alone.
   */
  ahead?: boolean
}

/** An append-only log of entries, each one JSON value. */
export interface Journal<Entry> {
  /** Every entry so far, oldest first. */
  read(): AsyncIterable<Entry>
  /**
   * Resolves when the entry would survive the death of this process, and is pending as long as that is unknown. Entries keep the order
   * of the calls. Rejects with NotKeptError or NotOwnerError.
   */
  append(entry: Entry, wish?: AppendWish): Promise<void>
  /**
   * True while the journals of a namespace are stored in one order: an entry that is appended to any of them later is stored after those
   * appended here before, or not at all. Left out where each journal is stored by itself.
   */
  readonly ordered?: boolean
  /** Replaces all entries by these, all or nothing. Appends called later follow them; appends to other journals do not wait. */
  rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void>
  /** Bytes (or an estimate) of all entries. */
  readonly size: number
  close(): Promise<void>
}
