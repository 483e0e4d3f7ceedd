import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A worker's memory, which outlives it: a folder with a small file for each fact. A kill leaves each of them whole or absent, and two workers
 * may write at once. One folder for each partner application, in WORKER_DIR.
 */
export class Notes {
  #folder
  #written = 0

  constructor({ WORKER_DIR = tmpdir(), YIELD_CLIENT_ID }) {
    this.#folder = join(WORKER_DIR, `worker-${YIELD_CLIENT_ID}`)
    mkdirSync(this.#folder, { recursive: true })
  }

  /** @returns {string | undefined} undefined if there is no such note */
  get(name) {
    try {
      return readFileSync(join(this.#folder, name), 'utf8')
    } catch (error) {
      if (error.code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Writes a note, in place of the one that is there. */
  put(name, text) {
    renameSync(this.#draft(text), join(this.#folder, name))
  }

  /** Writes a note unless there is one; returns the one that is there then. */
  keep(name, text) {
    const draft = this.#draft(text)
    try {
      linkSync(draft, join(this.#folder, name))
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    rmSync(draft)
    return this.get(name)
  }

  /** Nobody looks at it before it is whole and has its name. */
  #draft(text) {
    const draft = join(this.#folder, `.draft-${process.pid}-${this.#written++}`)
    writeFileSync(draft, text)
    return draft
  }
}
