import { DataDirectoryError } from './data-directory-error.ts'

/**
 * The release that first wrote each format of a whole data directory that is read. A format is raised when an older version would
 * misread any file, in a release of its own, so that the release to start can be named; a step that reads the last one stays. 3: the
 * ledger's journal may hold segments of packed records. 4: documents carry a checksum, every file the order of writes, and folders of
 * namespaces are called by their lives.
 */
export const RELEASES: Readonly<Record<number, string>> = { 2: '0.1.0', 3: '0.1.0', 4: '0.2.0' }
/** The one that is written; the first change of a directory raises its own to it. */
export const FORMAT = 4
const OLDEST_FORMAT = 2
/** The first whose documents carry a checksum. */
export const PROVEN_FORMAT = 4

/** Throws DataDirectoryError when a document is of a format that this version does not read. */
export function refuseOtherFormats(path: string, { format, version }: { format?: unknown; version?: unknown }): void {
  if (typeof format !== 'number' || !Number.isInteger(format)) return
  if (format >= OLDEST_FORMAT && format <= FORMAT) return
  const read = `${OLDEST_FORMAT} (since ${RELEASES[OLDEST_FORMAT]}) to ${FORMAT} (since ${RELEASES[FORMAT]})`
  const what = `it is of format ${format}, written by version ${version}, and this version reads formats ${read}`
  throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
}
