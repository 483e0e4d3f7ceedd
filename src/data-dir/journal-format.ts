import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { DataDirectoryError, damaged } from './data-directory-error.ts'
import { NEVER, type Written } from './write-order.ts'

const NAME = 'yield-sandbox journal'
const FORMAT = 2
/** Has a header of its own length, which knows nothing of other files. */
const OLDER_FORMAT = 1
/** Digits of the acknowledged length in the older format. */
const DIGITS = 15
/** Of the checksum, with the blank before it and the line feed behind. */
const CHECKSUM_BYTES = 10

/** Bytes of the header, line feed included: fixed, so that it can be written in place. */
export const HEADER_BYTES = 512

/** What the first line of a journal says. */
export interface JournalHeader extends Written {
  /** Bytes of all lines after the header that were acknowledged. */
  acknowledged: number
  /** Of an older format: it is good to read, and to be written anew before anything is added. */
  outdated: boolean
  /** Its own length. */
  bytes: number
}

/**
 * The first line of a journal: format, format version, acknowledged length, how often it was written, how often the other files
 * had been by then, as far as there is room for that; checksum of all that.
 */
export function headerOf({ acknowledged, outdated, writes, after }: Omit<JournalHeader, 'bytes'>): Buffer {
  if (outdated) return olderHeaderOf(acknowledged)
  const room = HEADER_BYTES - CHECKSUM_BYTES
  let text = `${NAME} ${FORMAT} ${acknowledged} ${writes} `
  for (const [i, other] of after.entries()) {
    const next = `${text}${i > 0 ? ',' : ''}${other}`
    if (next.length > room) break
    text = next
  }
  return withChecksum(text.padEnd(room))
}

/** What a header says, which may be followed by other bytes. Throws DataDirectoryError when it is none that can be read. */
export function headerIn(path: string, bytes: Buffer): JournalHeader {
  const text = bytes.toString('latin1')
  const [, version, length = '', writes = '', after = ''] =
    /^yield-sandbox journal (\d+) (\d*)(?: (\d+) ([\d,]*))?/.exec(text) ?? []
  if (version === undefined) throw damaged(path, 'byte 0: it does not begin with the header of a journal')
  if (version !== String(FORMAT) && version !== String(OLDER_FORMAT)) {
    const what = `it was written by format ${version} of the journal, and this version reads formats ${OLDER_FORMAT} to ${FORMAT}`
    throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
  }
  const outdated = version === String(OLDER_FORMAT)
  const said = outdated ? NEVER : { writes: Number(writes), after: after === '' ? [] : after.split(',').map(Number) }
  const header = { acknowledged: Number(length), outdated, ...said }
  const own = headerOf(header)
  if (!own.equals(bytes.subarray(0, own.length))) throw damaged(path, 'byte 0: the checksum of its header is wrong')
  return { ...header, bytes: own.length }
}

/** An entry as it is written: checksum, JSON, line feed. */
export function lineOf(entry: unknown): Buffer {
  return lineOfJson(JSON.stringify(entry))
}

/** The line of an entry that is JSON already. */
export function lineOfJson(json: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${checksum(json)} `), Buffer.from(json), Buffer.from('\n')])
}

/** The JSON of a line without its line feed, or undefined when the line is not whole. */
export function jsonIn(line: Buffer): Buffer | undefined {
  const json = line.subarray(9)
  return line.toString('latin1', 0, 9) === `${checksum(json)} ` ? json : undefined
}

function olderHeaderOf(acknowledged: number): Buffer {
  return withChecksum(`${NAME} ${OLDER_FORMAT} ${String(acknowledged).padStart(DIGITS, '0')}`)
}

function withChecksum(text: string): Buffer {
  return Buffer.from(`${text} ${checksum(text)}\n`)
}

function checksum(data: string | Buffer): string {
  return crc32(data).toString(16).padStart(8, '0')
}

/** A line of a journal file. */
export interface JournalLine {
  /** Counted from 1, which is the header. */
  number: number
  /** Byte of the file it begins at. */
  at: number
  /** Undefined when the line is not whole. */
  json: Buffer | undefined
}

const CHUNK_BYTES = 2 ** 20

/**
 * The lines between two bytes of the file, the first of which follows the header: as many at a time as were read at once.
 * Bytes at the end without a line feed, or missing there, make a last line that is not whole.
 */
export async function* journalLines(handle: FileHandle, from: number, to: number): AsyncGenerator<JournalLine[]> {
  let number = 2
  let at = from
  /** The beginning of a line whose end was not read yet. */
  let begun: Buffer[] = []
  let position = from
  while (position < to) {
    const chunk = await readChunk(handle, position, to)
    if (chunk.length === 0) break
    position += chunk.length
    const lines: JournalLine[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end)
      const line = begun.length > 0 ? Buffer.concat([...begun, rest]) : rest
      lines.push({ number, at, json: jsonIn(line) })
      begun = []
      start = end + 1
      number += 1
      at += line.length + 1
    }
    if (start < chunk.length) begun.push(chunk.subarray(start))
    yield lines
  }
  if (at < to) yield [{ number, at, json: undefined }]
}

async function readChunk(handle: FileHandle, position: number, to: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - position))
  const { bytesRead } = await handle.read(chunk, 0, chunk.length, position)
  return chunk.subarray(0, bytesRead)
}
