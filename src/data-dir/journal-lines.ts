import type { FileHandle } from 'node:fs/promises'
import { jsonIn } from './journal-format.ts'

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
