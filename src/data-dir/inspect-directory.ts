import { join } from 'node:path'
import { type InspectedJournal, inspectJournal } from './inspect-journal.ts'
import { fileOfJournal, MANIFEST, Manifest, type ManifestData } from './manifest.ts'
import { NEVER, WriteOrder } from './write-order.ts'

/** What a data directory holds, damaged or not. */
export interface InspectedDirectory {
  path: string
  /** Undefined when it is damaged or missing. */
  manifest: ManifestData | undefined
  /** By name; those that the manifest names. */
  journals: Map<string, InspectedJournal>
  /** What is wrong, by file: a sentence without its end. */
  damages: Map<string, string>
}

/** Reads a data directory that nobody uses, and leaves it as it is. Throws DataDirectoryError when it cannot be read. */
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

/** What is wrong with the order in which whole files were written; undefined for nothing. */
function olderFile(
  path: string,
  manifest: ManifestData,
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

/** The first sentence of an error that begins with a path. */
export function withoutPath(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^.*?: /, '').replace(/[;.] (what was|Fix:)[\s\S]*$/, '')
}
