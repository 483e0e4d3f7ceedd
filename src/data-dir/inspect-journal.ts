import type { FileHandle } from 'node:fs/promises'
import { HEADER_BYTES, headerIn, type JournalHeader } from './journal-format.ts'
import { type JournalLine, journalLines } from './journal-lines.ts'
import { openUnchanged } from './private-file.ts'
import { systemFailure } from './system-failure.ts'

/** What a journal's file holds, damaged or not. */
export interface InspectedJournal {
  /** Undefined when it is damaged, too. */
  header: JournalHeader | undefined
  /** The JSON of the lines before anything that is damaged. */
  whole: Buffer[]
  /** The JSON of the whole lines behind that. */
  behind: Buffer[]
  /** What is wrong, a sentence without its end; undefined when nothing is. */
  damage: string | undefined
}

/** Reads a journal's file as far as it can be read, and leaves it as it is. */
export async function inspectJournal(path: string): Promise<InspectedJournal> {
  const found: InspectedJournal = { header: undefined, whole: [], behind: [], damage: undefined }
  try {
    const handle = await openUnchanged(path)
    if (!handle) return { ...found, damage: 'it is missing' }
    await read(path, handle, found).finally(() => handle.close())
    return found
  } catch (error) {
    throw systemFailure(path, error)
  }
}

async function read(path: string, handle: FileHandle, found: InspectedJournal): Promise<void> {
  const bytes = Buffer.alloc(HEADER_BYTES)
  const { bytesRead } = await handle.read(bytes, 0, HEADER_BYTES, 0)
  try {
    found.header = headerIn(path, bytes.subarray(0, bytesRead))
  } catch {
    found.damage = 'its header is damaged, or of another format'
  }
  const { size } = await handle.stat()
  const begin = found.header?.bytes ?? HEADER_BYTES
  const end = found.header ? begin + found.header.acknowledged : size
  let torn = false
  for await (const { number, at, json } of eachLine(handle, begin, size)) {
    if (json) (torn ? found.behind : found.whole).push(json)
    else if (at >= end)
      return // what a killed process had begun is dropped by a start, too
    else {
      torn = true
      found.damage ??= `line ${number}, byte ${at}: the checksum of the line is wrong`
    }
  }
  if (size < end) found.damage ??= `it ends at byte ${size}, and ${end} bytes of it were acknowledged`
}

async function* eachLine(handle: FileHandle, from: number, to: number): AsyncGenerator<JournalLine> {
  for await (const lines of journalLines(handle, from, to)) yield* lines
}
