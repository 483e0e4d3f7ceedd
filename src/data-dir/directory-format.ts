import { DataDirectoryError } from './data-directory-error.ts'

/**
 * The format of a whole data directory: raised when an older version would misread any of its files. 3: the ledger's journal may
 * hold segments of packed records. 4: documents carry a checksum, folders of namespaces are called by their lives.
 */
export const FORMAT = 4
/** The oldest that is read; the first change raises it. */
export const OLDEST_FORMAT = 2
/** The first whose documents carry a checksum. */
export const PROVEN_FORMAT = 4

/** Throws DataDirectoryError when a document is of a format that this version does not read. */
export function refuseOtherFormats(path: string, { format, version }: { format?: unknown; version?: unknown }): void {
  if (typeof format !== 'number' || !Number.isInteger(format)) return
  if (format >= OLDEST_FORMAT && format <= FORMAT) return
  const what = `it is of format ${format} (written by version ${version}), and this version reads formats ${OLDEST_FORMAT} to ${FORMAT}`
  throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
}
