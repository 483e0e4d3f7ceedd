import type { ClockPosition } from '../clock.ts'
import type { UnparsedJournal } from './unparsed-journal.ts'

/** Where a namespace keeps its state: a directory of files, or rows of a database. Only this process uses it, from opening to closing. */
export interface NamespaceStorage {
  /** For messages: the path of the directory, or the database and the namespace's name. */
  readonly place: string
  readonly manifest: NamespaceManifest
  /** The journal of this name, made at the first call. Rejects if it is damaged. */
  journal<Entry>(name: string, wish?: JournalWish): Promise<UnparsedJournal<Entry>>
  /** Counts one more run, by that version of the package. Call it when all stored data was found sound, before any of it is changed. */
  begin(version: string): Promise<void>
  /** Rejects if the storage is no longer where it was. */
  check(): Promise<void>
  /** Rejects if so many bytes cannot be written now; leaves nothing behind. */
  probeRoom(bytes: number): Promise<void>
  /** Closes the journals once their appends are stored, and lets others have the storage. Writes nothing once {@link lost}. */
  close(): Promise<void>
  /**
   * Aborts when this process is not the owner any more: nothing is answered or written from then on, and appends that wait reject. Never
   * for files.
   */
  readonly lost: AbortSignal
  /** @returns true if what was read until now may be answered: the lease still holds. Always for files. */
  holds(): boolean
  /** Renews a lease that has expired, as in a process that had no processor for a while. @returns true if it holds then; left out for files */
  renewed?(): Promise<boolean>
  /**
   * Time since which nothing can be written because the storage does not answer, in milliseconds since the Unix epoch (wall-clock time):
   * appends wait, and new writes are refused. Undefined while it answers, and always for files, whose appends fail at once.
   */
  readonly awaySince?: number | undefined
}

/** What a journal is for, if it is not the usual. */
export interface JournalWish {
  /** True if nobody waits for its entries: a database may store them some milliseconds later, with entries of other journals. */
  unhurried?: boolean
}

/** The small document that describes a namespace's stored state. */
export interface NamespaceManifest {
  /** Its content at the last write. */
  readonly data: Readonly<ManifestData>
  /** Changes some fields; durable when it resolves. If it rejects, nothing has changed. */
  update(changes: Partial<ManifestData>): Promise<void>
  /**
   * Call it before writing anything that an older version would misread. Where several processes share the storage, the format stays as it is
   * while one of them is older: write what {@link ManifestData.format} says.
   */
  raiseFormat(): Promise<void>
}

/** Content of the manifest. */
export interface ManifestData extends StorageStart {
  /** Format of all that is stored. */
  format: number
  /** Number of times it was opened. */
  runs: number
  /** The sandbox clock, in milliseconds: its lead over real time, or the moment since the Unix epoch at which it is frozen. */
  clock: ClockPosition
  /** True if it has all of the fixture's records. */
  seeded: boolean
  /** True if the last run ended in order and left no damage of a fault. */
  clean: boolean
  /** The run, by its number in {@link runs}, in which no fault has broken anything of a chain; null once one has. Older versions leave it as it was. */
  unharmed?: number | null
  /** Names of its journals, by which a missing one is noticed. */
  journals: string[]
}

/** @returns true if no fault has left anything broken on the chains, however the last run ended */
export function isUnharmed({ seeded, clean, unharmed, runs }: ManifestData): boolean {
  return !seeded || clean || unharmed === runs
}

/** The changes of the manifest with which one more run begins. */
export function changesOfRun(data: ManifestData, version: string): Partial<ManifestData> {
  const runs = data.runs + 1
  return { version, runs, clean: false, unharmed: isUnharmed(data) ? runs : null }
}

/** Initial content of a new storage. */
export interface StorageStart {
  /** Version of the package that wrote it last. */
  version: string
  seed: number
  /** Fingerprint of the fixture from which it was seeded. */
  fixture: string
  /** Number of earlier runs; default 0. */
  runs?: number | undefined
}
