import type { UnparsedEntry, UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Logger } from '../support/logger.ts'
import { damaged, systemFailure } from './data-directory-error.ts'
import { EntryFile, type InDirectory } from './entry-file.ts'
import { lineOf, lineOfJson } from './journal-format.ts'

/**
 * A journal in one file. An append writes its line, then the acknowledged length, then resolves; appends that arrive during a write share
 * the next write. Unless writes are synced, only a rewrite is flushed to the disk: entries survive the death of the process, not a power
 * cut. After a power cut, damage is refused when the file is opened.
 */
export class JournalFile<Entry> implements UnparsedJournal<Entry> {
  readonly #path: string
  readonly #order: InDirectory
  #file: EntryFile
  /** The next write, which appends may still join because it has not begun. */
  #next: { lines: Buffer[]; written: Promise<void> } | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | undefined

  private constructor(path: string, order: InDirectory, file: EntryFile) {
    this.#path = path
    this.#order = order
    this.#file = file
  }

  /**
   * Opens the journal in a file, or makes it; no other process may write to it. All acknowledged data is checked: damage to it throws
   * DataDirectoryError and changes nothing. Unacknowledged lines of a killed process are kept as far as they are whole.
   */
  static async open<Entry>(path: string, order: InDirectory, log: Logger): Promise<JournalFile<Entry>> {
    try {
      const file = (await EntryFile.open(path, order, log)) ?? (await EntryFile.write(path, order, linesOf([])))
      await file.enter()
      return new JournalFile<Entry>(path, order, file)
    } catch (error) {
      throw systemFailure(path, error)
    }
  }

  get size(): number {
    return this.#file.size
  }

  async *read(): AsyncGenerator<Entry> {
    for await (const json of this.#file.read()) yield this.#parse(json)
  }

  async *readUnparsed(): AsyncGenerator<UnparsedEntry<Entry>> {
    for await (const json of this.#file.read()) yield { json, parse: () => this.#parse(json) }
  }

  async append(entry: Entry): Promise<void> {
    const line = lineOf(entry)
    if (!this.#next) {
      const lines: Buffer[] = []
      const written = this.#enqueue(() => {
        if (this.#next?.lines === lines) this.#next = undefined
        return this.#append(lines)
      })
      this.#next = { lines, written }
    }
    this.#next.lines.push(line)
    return this.#next.written
  }

  async rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    return this.#enqueue(() => this.#replace(linesOf(entries)))
  }

  /** Throws DataDirectoryError if it has been moved or removed. */
  async check(): Promise<void> {
    if (!this.#closed) await this.#enqueue(() => this.#file.check())
  }

  async close(): Promise<void> {
    this.#closed ??= this.#enqueue(() => this.#file.retire())
    return this.#closed
  }

  /** A file of an older version is first rewritten in the present format. */
  async #append(lines: readonly Buffer[]): Promise<void> {
    if (this.#file.outdated) await this.#replace(linesOfJson(this.#file.read()))
    await this.#file.append(lines)
  }

  async #replace(lines: AsyncIterable<Buffer>): Promise<void> {
    const old = this.#file
    this.#file = await EntryFile.write(this.#path, this.#order, lines)
    await old.retire()
    await this.#file.enter()
  }

  #parse(json: Buffer): Entry {
    try {
      return JSON.parse(json.toString())
    } catch {
      throw damaged(this.#path, 'an entry is not JSON')
    }
  }

  /** Runs writes one after the other, in the order of the calls. */
  #enqueue(write: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.#path}: the journal is closed`))
    this.#next = undefined // appends from here on follow this write
    const done = this.#tail.then(write).catch((error: unknown) => {
      throw systemFailure(this.#path, error)
    })
    this.#tail = done.catch(() => undefined)
    return done
  }
}

async function* linesOf(entries: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const entry of entries) yield lineOf(entry)
}

async function* linesOfJson(entries: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const json of entries) yield lineOfJson(json)
}
