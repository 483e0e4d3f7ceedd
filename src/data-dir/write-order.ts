import { join } from 'node:path'
import { damaged } from './data-directory-error.ts'

/** A file's statement on its last write. */
export interface Written {
  /** Number of its writes so far. */
  writes: number
  /** Numbers of writes of all files in the directory by then, in their order. */
  after: readonly number[]
}

/** Statement of a file that was never written with an order. */
export const NEVER: Written = { writes: 0, after: [] }

/**
 * The order in which the files of a data directory were written. Each write names the last write of every other file, so that the others
 * reveal a file that was restored from an older copy: whole, but older than writes that followed it.
 */
export class WriteOrder {
  readonly #files: () => readonly string[]
  readonly #last = new Map<string, Written>()

  /** `files`: those of the directory, in an order that only grows. */
  constructor(files: () => readonly string[]) {
    this.#files = files
  }

  /** The statement for the next write of a file. */
  next(file: string): Written {
    return { writes: this.#writesOf(file) + 1, after: this.#files().map((other) => this.#writesOf(other)) }
  }

  /** Call it with the statement of a file that was read or written. */
  is(file: string, written: Written): void {
    this.#last.set(file, written)
  }

  /** Throws DataDirectoryError if a file in this directory is older than another one states. */
  check(directory: string): void {
    for (const [file, { after }] of this.#last) {
      for (const [i, other] of this.#files().entries()) {
        if (!this.#last.has(other) || (after[i] ?? 0) <= this.#writesOf(other)) continue
        throw damaged(join(directory, other), `it is older than ${file} beside it, which was written after a later one`)
      }
    }
  }

  #writesOf(file: string): number {
    return this.#last.get(file)?.writes ?? 0
  }
}
