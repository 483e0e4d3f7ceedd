import { DataDirectoryError } from './data-directory-error.ts'

/** Something that was acknowledged is not what was written. */
export function damaged(path: string, what: string): DataDirectoryError {
  const fix = 'restore it from a backup of the whole directory, or start with another or an empty --data-dir'
  return new DataDirectoryError(path, `${what}; what was acknowledged is damaged, and nothing was changed`, fix)
}
