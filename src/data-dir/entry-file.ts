import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { breathe } from '../support/breathe.ts'
import type { Logger } from '../support/logger.ts'
import { damaged } from './data-directory-error.ts'
import {
  HEADER_BYTES,
  headerIn,
  headerOf,
  type JournalHeader,
  type JournalLine,
  journalLines,
} from './journal-format.ts'
import { openPrivate, Presence, removeTemporary, replacePrivate, syncDirectory } from './private-file.ts'
import type { Written } from './write-order.ts'

const FLUSH_BYTES = 2 ** 20

/** A file's knowledge of its directory. */
export interface InDirectory {
  /** True if each write must be on the disk itself when it is acknowledged. */
  synced: boolean
  /** Throws DataDirectoryError if the directory has been moved or removed. */
  present(): Promise<void>
  next(): Written
  is(written: Written): void
}

/** The bytes of a journal on disk: a header with the acknowledged length, then a line per entry. Calls must not overlap. */
export class EntryFile {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #order: InDirectory
  readonly #presence: Presence
  #header: JournalHeader
  /** True while the remains of a failed write have not been removed. */
  #torn = false
  /** True while the disk itself may not have the file in its place. */
  #unentered = false
  /** Lines checked on opening, for the first reader; undefined if the file has changed since. */
  #checked: Buffer[][] | undefined
  #readers = 0
  #retired = false

  private constructor({ path, handle, order, presence, header }: EntryFileParts) {
    this.#path = path
    this.#handle = handle
    this.#order = order
    this.#presence = presence
    this.#header = header
    order.is(header)
  }

  /**
   * Opens and checks the file; undefined if there is none. Throws DataDirectoryError, without changing anything, if acknowledged data is
   * damaged.
   */
  static async open(path: string, order: InDirectory, log: Logger): Promise<EntryFile | undefined> {
    const handle = await openPrivate(path)
    if (!handle) return undefined
    try {
      const [header, presence] = [await readHeader(path, handle), await Presence.of(path, handle)]
      const file = new EntryFile({ path, handle, order, presence, header })
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

  /** Reads the header of a file; undefined if there is none. Throws DataDirectoryError if it is damaged. */
  static async peek(path: string): Promise<JournalHeader | undefined> {
    const handle = await openPrivate(path)
    return handle && readHeader(path, handle).finally(() => handle.close())
  }

  /**
   * Replaces the file at the path by one with these lines, or fails and leaves the old one. Call {@link enter} once it is in use: a
   * failed flush does not bring the old one back.
   */
  static async write(path: string, order: InDirectory, lines: AsyncIterable<Buffer>): Promise<EntryFile> {
    await order.present()
    const header = { acknowledged: 0, outdated: false, bytes: HEADER_BYTES, ...order.next() }
    const handle = await replacePrivate(path, async (handle) => {
      header.acknowledged = (await writeLines(handle, lines)) - HEADER_BYTES
      await writeAll(handle, headerOf(header), 0)
      await handle.sync()
    })
    const file = new EntryFile({ path, handle, order, presence: await Presence.of(path, handle), header })
    file.#unentered = order.synced
    return file
  }

  /** Bytes of all entries. */
  get size(): number {
    return this.#header.acknowledged
  }

  /** @returns true if it must be rewritten before anything is appended */
  get outdated(): boolean {
    return this.#header.outdated
  }

  /** Yields the JSON of every entry written before the reading begins. Throws DataDirectoryError at a damaged one. */
  async *read(): AsyncGenerator<Buffer> {
    const checked = this.#checked
    this.#checked = undefined
    this.#readers += 1
    try {
      if (checked) yield* inTurns(checked)
      else
        for await (const lines of journalLines(this.#handle, this.#header.bytes, this.#end)) yield* this.#whole(lines)
    } finally {
      this.#readers -= 1
      await this.#closeUnused()
    }
  }

  /** Throws DataDirectoryError if it has been moved or removed. */
  check(): Promise<void> {
    return this.#presence.check()
  }

  /** Resolves when the disk itself has the file in its place, if writes are synced. Tried again before the next write. */
  async enter(): Promise<void> {
    if (this.#unentered) await syncDirectory(dirname(this.#path))
    this.#unentered = false
  }

  /** Appends all of these lines or, if it fails, none. */
  async append(lines: readonly Buffer[]): Promise<void> {
    await this.check()
    await this.enter()
    const bytes = Buffer.concat(lines)
    this.#checked = undefined
    if (this.#torn) await this.#restore()
    const acknowledged = this.#header.acknowledged + bytes.length
    const header = { ...this.#header, ...this.#order.next(), acknowledged }
    try {
      await this.#write(bytes, this.#end)
      await this.#write(headerOf(header), 0) // after the lines: it must not reach the disk before them
    } catch (error) {
      this.#torn = true
      await this.#restore().catch(() => undefined) // then it is tried again before the next write
      throw error
    }
    this.#header = header
    this.#order.is(header)
  }

  /** Closes the file once all its readers have finished. */
  async retire(): Promise<void> {
    this.#retired = true
    this.#checked = undefined
    await this.#closeUnused()
  }

  get #end(): number {
    return this.#header.bytes + this.#header.acknowledged
  }

  async #check(size: number): Promise<void> {
    if (size < this.#end) {
      throw damaged(this.#path, `it ends at byte ${size}, and ${this.#end} bytes of it were acknowledged`)
    }
    const checked: Buffer[][] = []
    const { bytes } = this.#header
    for await (const lines of journalLines(this.#handle, bytes, this.#end)) checked.push(this.#whole(lines))
    this.#checked = checked
  }

  /** The JSON of each line. Throws DataDirectoryError if a line is not whole. */
  #whole(lines: readonly JournalLine[]): Buffer[] {
    return lines.map(({ number, at, json }) => {
      if (!json) throw damaged(this.#path, `line ${number}, byte ${at}: the checksum of the line is wrong`)
      return json
    })
  }

  /** Acknowledges whole lines that a killed process left behind the acknowledged ones, and cuts off the rest. */
  async #keepWholeTail(size: number, log: Logger): Promise<void> {
    if (size === this.#end) return
    this.#checked = undefined
    const begin = this.#end
    const end = await endOfWholeLines(this.#handle, begin, size)
    this.#header = { ...this.#header, acknowledged: end - this.#header.bytes }
    await this.#restore()
    const fields = { file: this.#path, kept_bytes: end - begin, dropped_bytes: size - end }
    log.warn(fields, `${this.#path}: dropped ${size - end} bytes that a killed process had not finished writing`)
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    await writeAll(this.#handle, bytes, position)
    if (this.#order.synced) await this.#handle.datasync()
  }

  /** Restores the file to its acknowledged content. */
  async #restore(): Promise<void> {
    await writeAll(this.#handle, headerOf(this.#header), 0)
    await this.#handle.truncate(this.#end)
    this.#torn = false
  }

  async #closeUnused(): Promise<void> {
    if (this.#retired && this.#readers === 0) await this.#handle.close()
  }
}

/** Yields all items. Other tasks run between two lists, and each list's memory is released after its turn. */
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

async function readHeader(path: string, handle: FileHandle): Promise<JournalHeader> {
  const bytes = Buffer.alloc(HEADER_BYTES)
  const { bytesRead } = await handle.read(bytes, 0, HEADER_BYTES, 0)
  return headerIn(path, bytes.subarray(0, bytesRead))
}

/** Writes lines behind the header; returns the position behind the last byte. */
async function writeLines(handle: FileHandle, all: AsyncIterable<Buffer>): Promise<number> {
  let position = HEADER_BYTES
  let lines: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    await writeAll(handle, Buffer.concat(lines), position)
    position += bytes
    lines = []
    bytes = 0
  }
  for await (const line of all) {
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

interface EntryFileParts {
  path: string
  handle: FileHandle
  order: InDirectory
  presence: Presence
  header: JournalHeader
}
