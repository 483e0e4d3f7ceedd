import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { DataDirectoryError, damaged } from './data-directory-error.ts'
import { NEVER, type Written } from './write-order.ts'

const NAME = 'yield-sandbox journal'
const FORMAT = 2
/** Its header has a length of its own, and no order of writes. */
const OLDER_FORMAT = 1
/** Digits of the acknowledged length in the older format. */
const DIGITS = 15
/** Length of the checksum, with the blank before it and the line feed behind. */
const CHECKSUM_BYTES = 10

/** Bytes of the header, line feed included: fixed, so that it can be rewritten in place. */
export const HEADER_BYTES = 512

/** Content of the first line of a journal. */
export interface JournalHeader extends Written {
  /** Bytes of all acknowledged lines after the header. */
  acknowledged: number
  /** True for an older format: readable, but to be rewritten before anything is appended. */
  outdated: boolean
  /** Length of the header itself. */
  bytes: number
}

/**
 * The first line of a journal: format, format version, acknowledged length, its number of writes, the other files' numbers of writes by
 * then, as far as there is room, and a checksum of all that.
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

/** Parses a header, which other bytes may follow. Throws DataDirectoryError if it is not readable. */
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

/** The line of an entry: checksum, JSON, line feed. */
export function lineOf(entry: unknown): Buffer {
  return lineOfJson(JSON.stringify(entry))
}

/** The line of an entry that is already JSON. */
export function lineOfJson(json: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${checksum(json)} `), Buffer.from(json), Buffer.from('\n')])
}

/** The JSON of a line without its line feed; undefined if the line is not whole. */
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
  /** Byte of the file at which it begins. */
  at: number
  /** Undefined if the line is not whole. */
  json: Buffer | undefined
}

const CHUNK_BYTES = 2 ** 20

/**
 * Yields the lines between two bytes of the file, the first of which follows the header, in one array per chunk read. Bytes at the end
 * without a line feed, or missing there, make a last line that is not whole.
 */
export async function* journalLines(handle: FileHandle, from: number, to: number): AsyncGenerator<JournalLine[]> {
  let number = 2
  let at = from
  /** The beginning of a line whose end has not been read yet. */
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
