import { join } from 'node:path'
import { damaged } from './data-directory-error.ts'

/** What a file of a data directory says of its last write. */
export interface Written {
  /** How often it was written so far. */
  writes: number
  /** How often each file of the directory had been written by then, in their order. */
  after: readonly number[]
}

/** What a file says that was never written so. */
export const NEVER: Written = { writes: 0, after: [] }

/**
 * In which order the files of a data directory were written. Each write names the last one of all others, so that a file that was
 * put back as it once was, whole but older than what came after it, is told by the others.
 */
export class WriteOrder {
  readonly #files: () => readonly string[]
  readonly #last = new Map<string, Written>()

  /** `files`: those of the directory, in an order that only grows. */
  constructor(files: () => readonly string[]) {
    this.#files = files
  }

  /** What the next write of a file is to say. */
  next(file: string): Written {
    return { writes: this.#writesOf(file) + 1, after: this.#files().map((other) => this.#writesOf(other)) }
  }

  /** Call with what a file says, as it was found, or written. */
  is(file: string, written: Written): void {
    this.#last.set(file, written)
  }

  /** Throws DataDirectoryError when a file in this directory is older than another one says. */
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
