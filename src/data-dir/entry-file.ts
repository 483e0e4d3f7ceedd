import type { FileHandle } from 'node:fs/promises'
import { breathe } from '../support/breathe.ts'
import type { Logger } from '../support/logger.ts'
import { acknowledgedIn, damaged, HEADER_BYTES, headerOf, lineOf } from './journal-format.ts'
import { type JournalLine, journalLines } from './journal-lines.ts'
import { openPrivate, removeTemporary, replacePrivate } from './private-file.ts'

const FLUSH_BYTES = 2 ** 20

/** The bytes of a journal on disk: a header with the acknowledged length, then a line per entry. One call at a time. */
export class EntryFile {
  readonly #path: string
  readonly #handle: FileHandle
  #acknowledged: number
  /** What a failed write left behind has not been taken back yet. */
  #torn = false
  /** What was checked when it was opened, for whoever reads it first; undefined when the file has changed since. */
  #checked: Buffer[][] | undefined
  #readers = 0
  #retired = false

  private constructor(path: string, handle: FileHandle, acknowledged: number) {
    this.#path = path
    this.#handle = handle
    this.#acknowledged = acknowledged
  }

  /**
   * Opens and checks the file; undefined when there is none. Throws DataDirectoryError, changing nothing, when anything
   * acknowledged is damaged.
   */
  static async open(path: string, log: Logger): Promise<EntryFile | undefined> {
    const handle = await openPrivate(path)
    if (!handle) return undefined
    try {
      const header = Buffer.alloc(HEADER_BYTES)
      await handle.read(header, 0, HEADER_BYTES, 0)
      const file = new EntryFile(path, handle, acknowledgedIn(path, header))
      const { size } = await handle.stat()
      await file.#check(size)
      await removeTemporary(path)
      await file.#keepWholeTail(size, log)
      return file
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Puts a file with these entries in the place of the one at the path, or fails and leaves that one as it is. */
  static async write(path: string, entries: Iterable<unknown> | AsyncIterable<unknown>): Promise<EntryFile> {
    let end = HEADER_BYTES
    const handle = await replacePrivate(path, async (handle) => {
      end = await writeEntries(handle, entries)
      await writeAll(handle, headerOf(end - HEADER_BYTES), 0)
      await handle.sync()
    })
    return new EntryFile(path, handle, end - HEADER_BYTES)
  }

  /** Bytes of all entries. */
  get size(): number {
    return this.#acknowledged
  }

  /** The JSON of every entry written when the reading begins. Throws DataDirectoryError at one that is damaged. */
  async *read(): AsyncGenerator<Buffer> {
    const checked = this.#checked
    this.#checked = undefined
    this.#readers += 1
    try {
      if (checked) yield* inTurns(checked)
      else for await (const lines of journalLines(this.#handle, HEADER_BYTES, this.#end)) yield* this.#whole(lines)
    } finally {
      this.#readers -= 1
      await this.#closeUnused()
    }
  }

  /** All of these lines or, when it fails, none. */
  async append(lines: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(lines)
    this.#checked = undefined
    if (this.#torn) await this.#restore()
    try {
      await writeAll(this.#handle, bytes, this.#end)
      await writeAll(this.#handle, headerOf(this.#acknowledged + bytes.length), 0)
    } catch (error) {
      this.#torn = true
      await this.#restore().catch(() => undefined) // then it is tried again before the next write
      throw error
    }
    this.#acknowledged += bytes.length
  }

  /** Closes the file once those who read it have come to its end. */
  async retire(): Promise<void> {
    this.#retired = true
    this.#checked = undefined
    await this.#closeUnused()
  }

  get #end(): number {
    return HEADER_BYTES + this.#acknowledged
  }

  async #check(size: number): Promise<void> {
    if (size < this.#end) {
      throw damaged(this.#path, `it ends at byte ${size}, and ${this.#end} bytes of it were acknowledged`)
    }
    const checked: Buffer[][] = []
    for await (const lines of journalLines(this.#handle, HEADER_BYTES, this.#end)) checked.push(this.#whole(lines))
    this.#checked = checked
  }

  /** The JSON of each line. Throws DataDirectoryError when one is not whole. */
  #whole(lines: readonly JournalLine[]): Buffer[] {
    return lines.map(({ number, at, json }) => {
      if (!json) throw damaged(this.#path, `line ${number}, byte ${at}: the checksum of the line is wrong`)
      return json
    })
  }

  /** Acknowledges the whole lines that a killed process left behind what it acknowledged, and cuts off what follows. */
  async #keepWholeTail(size: number, log: Logger): Promise<void> {
    if (size === this.#end) return
    this.#checked = undefined
    const begin = this.#end
    const end = await endOfWholeLines(this.#handle, begin, size)
    this.#acknowledged = end - HEADER_BYTES
    await this.#restore()
    const fields = { file: this.#path, kept_bytes: end - begin, dropped_bytes: size - end }
    log.warn(fields, `${this.#path}: dropped ${size - end} bytes that a killed process had not finished writing`)
  }

  /** Makes the file hold what was acknowledged and nothing else. */
  async #restore(): Promise<void> {
    await writeAll(this.#handle, headerOf(this.#acknowledged), 0)
    await this.#handle.truncate(this.#end)
    this.#torn = false
  }

  async #closeUnused(): Promise<void> {
    if (this.#retired && this.#readers === 0) await this.#handle.close()
  }
}

/** All items. Between two lists, others have their turn; what was gone through is not held any longer. */
async function* inTurns<Item>(lists: Item[][]): AsyncGenerator<Item> {
  for (const [index, list] of lists.entries()) {
    lists[index] = []
    yield* list
    await breathe()
  }
}

async function endOfWholeLines(handle: FileHandle, from: number, to: number): Promise<number> {
  for await (const lines of journalLines(handle, from, to)) {
    const torn = lines.find(({ json }) => !json)
    if (torn) return torn.at
  }
  return to
}

/** Writes entries behind the header; returns the byte behind the last. */
async function writeEntries(handle: FileHandle, entries: Iterable<unknown> | AsyncIterable<unknown>): Promise<number> {
  let position = HEADER_BYTES
  let lines: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    await writeAll(handle, Buffer.concat(lines), position)
    position += bytes
    lines = []
    bytes = 0
  }
  for await (const entry of entries) {
    const line = lineOf(entry)
    lines.push(line)
    bytes += line.length
    if (bytes >= FLUSH_BYTES) await flush()
  }
  await flush()
  return position
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
