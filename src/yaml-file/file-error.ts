/** One fault in a file that a person wrote. */
export interface FileIssue {
  /** The file, as it was named. */
  file: string
  /** From 1; absent for a fault of the whole file. */
  line?: number
  /** From 1; absent for a fault of the whole file. */
  column?: number
  /** The field, such as `tenants[0].client_id`; empty for a fault of the whole file. */
  path: string
  /** The fault: `must be a UUID; got "abc"`. */
  message: string
  /** The fix, a sentence without its full stop, or a question. */
  fix: string
}

/** A file that cannot be used. Its message has one line per issue. Rooms throw a subclass of their own. */
export class FileError extends Error {
  override readonly name: string = 'FileError'

  constructor(readonly issues: readonly FileIssue[]) {
    super(issues.map(formatIssue).join('\n'))
  }
}

function formatIssue(issue: FileIssue): string {
  const { message, fix } = issue
  return `${formatPlace(issue)}: ${message}. Fix: ${fix}${fix.endsWith('?') ? '' : '.'}`
}

/** File, line, column and field: `my.yaml:14:16 tenants[0].client_id`. */
export function formatPlace({ file, line, column, path }: Omit<FileIssue, 'message' | 'fix'>): string {
  return `${line === undefined ? file : `${file}:${line}:${column}`}${path && ` ${path}`}`
}
