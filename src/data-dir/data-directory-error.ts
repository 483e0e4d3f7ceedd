import { NotKeptError } from '../domain/ports/journal.ts'

/** The data directory cannot be used. The message is one line: the path, the fault and the fix. */
export class DataDirectoryError extends NotKeptError {
  override readonly name = 'DataDirectoryError'
  override readonly code = 'data_directory_unusable'

  constructor(path: string, message: string, fix: string, cause?: unknown) {
    super(`${path}: ${message}. Fix: ${fix}.`, { cause })
  }
}

/** Acknowledged data is not as it was written. */
export function damaged(path: string, what: string): DataDirectoryError {
  const fix = 'restore it from a backup of the whole directory, or start with another or an empty --data-dir'
  return new DataDirectoryError(path, `${what}; what was acknowledged is damaged, and nothing was changed`, fix)
}

const MEANING: Record<string, [what: string, fix: string]> = {
  EACCES: ['it must not be written by this user', 'give this user the right to, or choose another --data-dir'],
  EPERM: ['it must not be written by this user', 'give this user the right to, or choose another --data-dir'],
  EROFS: ['it is on a read-only file system', 'mount it writable, or choose another --data-dir'],
  ENOENT: ['it cannot be made there', 'choose another --data-dir'],
  ENOTDIR: ['it is, or is below, a file', 'choose another --data-dir'],
  ELOOP: ['its symbolic links lead in a circle', 'choose another --data-dir'],
  ENAMETOOLONG: ['the path is too long', 'choose another --data-dir'],
  ENOSPC: ['the disk is full', 'make room on it; nothing that was acknowledged is lost'],
  EDQUOT: ['the disk quota is used up', 'make room; nothing that was acknowledged is lost'],
  EFBIG: ['the file may not grow further', 'raise the limit; nothing that was acknowledged is lost'],
  EMFILE: ['too many files are open', 'raise the limit of open files (ulimit -n)'],
}

/** Converts an error of the operating system on a path to one that names the fix. Other errors are returned unchanged. */
export function systemFailure(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const [what, fix] = MEANING[code] ?? [`it cannot be used (${message})`, 'see to it, or choose another --data-dir']
  return new DataDirectoryError(path, what, fix, error)
}
