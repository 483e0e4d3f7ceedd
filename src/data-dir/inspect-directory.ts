import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { systemFailure } from './data-directory-error.ts'
import { HEADER_BYTES, headerIn, type JournalHeader, type JournalLine, journalLines } from './journal-format.ts'
import { fileOfJournal, MANIFEST, Manifest, type ManifestContent } from './manifest.ts'
import { openUnchanged } from './private-file.ts'
import { NEVER, WriteOrder } from './write-order.ts'

/** Content of a data directory, damaged or not. */
export interface InspectedDirectory {
  path: string
  /** Undefined if it is damaged or missing. */
  manifest: ManifestContent | undefined
  /** The journals that the manifest names, by name. */
  journals: Map<string, InspectedJournal>
  /** Damage by file: a sentence without its end. */
  damages: Map<string, string>
}

/** Reads a data directory that no process uses, without changing it. Throws DataDirectoryError if it cannot be read. */
export async function inspectDirectory(path: string): Promise<InspectedDirectory> {
  const found: InspectedDirectory = { path, manifest: undefined, journals: new Map(), damages: new Map() }
  try {
    found.manifest = await Manifest.peek(join(path, MANIFEST))
    if (!found.manifest) found.damages.set(MANIFEST, 'it is missing')
  } catch (error) {
    found.damages.set(MANIFEST, withoutPath(error))
  }
  if (!found.manifest) return found
  for (const name of found.manifest.journals) {
    const journal = await inspectJournal(join(path, fileOfJournal(name)))
    found.journals.set(name, journal)
    if (journal.damage !== undefined) found.damages.set(fileOfJournal(name), journal.damage)
  }
  const older = olderFile(path, found.manifest, found.journals)
  if (older !== undefined) found.damages.set('all files', older)
  return found
}

/** A fault in the order in which whole files were written; undefined if there is none. */
function olderFile(
  path: string,
  manifest: ManifestContent,
  journals: ReadonlyMap<string, InspectedJournal>,
): string | undefined {
  const order = new WriteOrder(() => [MANIFEST, ...manifest.journals.map(fileOfJournal)])
  order.is(MANIFEST, { ...NEVER, ...manifest })
  for (const [name, { header }] of journals) if (header) order.is(fileOfJournal(name), header)
  try {
    order.check(path)
    return undefined
  } catch (error) {
    return withoutPath(error)
  }
}

/** The first sentence of an error message, without its path. */
export function withoutPath(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^.*?: /, '').replace(/[;.] (what was|Fix:)[\s\S]*$/, '')
}

/** Content of a journal's file, damaged or not. */
export interface InspectedJournal {
  /** Undefined if it is damaged too. */
  header: JournalHeader | undefined
  /** The JSON of the lines before any damage. */
  whole: Buffer[]
  /** The JSON of the whole lines behind the damage. */
  behind: Buffer[]
  /** The damage, a sentence without its end; undefined if there is none. */
  damage: string | undefined
}

/** Reads a journal's file as far as possible, without changing it. */
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
      return // a start, too, drops the unfinished line of a killed process
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
