import { NotKeptError } from '../domain/ports/journal.ts'

/** The data directory cannot be used. The message is one line: the path, what is wrong with it and what to do. */
export class DataDirectoryError extends NotKeptError {
  override readonly name = 'DataDirectoryError'
  override readonly code = 'data_directory_unusable'

  constructor(path: string, message: string, fix: string, cause?: unknown) {
    super(`${path}: ${message}. Fix: ${fix}.`, { cause })
  }
}
