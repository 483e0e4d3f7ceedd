import { join, resolve } from 'node:path'
import { DirectoryLock } from '../data-dir/directory-lock.ts'
import { type InspectedDirectory, inspectDirectory, withoutPath } from '../data-dir/inspect-directory.ts'
import { fileOfJournal, MANIFEST } from '../data-dir/manifest.ts'
import { type KeptNamespace, NamespaceFolders } from '../data-dir/namespace-folders.ts'
import type { Logger } from '../support/logger.ts'
import { type Salvage, salvageOf, writeSalvage } from './salvage.ts'

/** Finding on one file, or on a part of the directory. */
export interface Diagnosis {
  file: string
  state: 'whole' | 'damaged' | 'lost' | 'salvaged'
  detail: string
}

/**
 * Reads a data directory without starting or changing it, and reports what is whole, what is damaged, and what a salvage would lose. With
 * `salvage` it makes that copy, at a path where nothing exists yet. Throws DataDirectoryError if a sandbox uses the directory.
 */
export async function examine(given: string, options: { salvage?: string; log: Logger }): Promise<Diagnosis[]> {
  const path = resolve(given)
  const lock = await DirectoryLock.acquireToRead(path)
  try {
    const found = await examineOne(path, '', options)
    const isSaved = found.some(({ state }) => state === 'salvaged')
    const { salvage: _, ...toRead } = options // namespaces without the directory that they are in cannot be started
    const folders = new NamespaceFolders(path)
    for (const life of await folders.lives()) {
      found.push(...(await examineNamespace(folders, life, isSaved ? options : toRead)))
    }
    return found
  } finally {
    await lock?.release()
  }
}

async function examineNamespace(
  folders: NamespaceFolders,
  life: string,
  { salvage, log }: { salvage?: string; log: Logger },
): Promise<Diagnosis[]> {
  const place = join('namespaces', life)
  const file = join(place, 'namespace.json')
  let kept: KeptNamespace | null
  try {
    kept = await folders.peek(life)
  } catch (error) {
    const detail = `it cannot be read (${withoutPath(error)}): the whole namespace`
    return [
      { file, state: 'damaged', detail: withoutPath(error) },
      { file: place, state: 'lost', detail },
    ]
  }
  if (!kept) return [] // an interrupted deletion: a start removes the rest
  const copy = salvage === undefined ? undefined : new NamespaceFolders(salvage)
  const found = await examineOne(folders.of(life), place, { log, ...(copy && { salvage: copy.of(life) }) })
  const isSaved = found.some(({ state }) => state === 'salvaged')
  if (copy && isSaved) await copy.keep(life, kept)
  return [{ file, state: 'whole', detail: `seed ${kept.seed}` }, ...found]
}

async function examineOne(
  path: string,
  place: string,
  { salvage, log }: { salvage?: string; log: Logger },
): Promise<Diagnosis[]> {
  const directory = await inspectDirectory(path)
  const found = statesOf(directory, place)
  const whole = directory.damages.size === 0
  if (whole && salvage === undefined) return found
  let saved: Salvage
  try {
    saved = await salvageOf(directory)
  } catch (error) {
    return [...found, { file: place || 'all of it', state: 'lost', detail: withoutPath(error) }]
  }
  found.push(...saved.lost.map((detail): Diagnosis => ({ file: place || 'directory', state: 'lost', detail })))
  if (salvage === undefined) return found
  await writeSalvage(directory, saved, { to: salvage, log })
  return [...found, { file: place || 'directory', state: 'salvaged', detail: salvage }]
}

function statesOf({ manifest, journals, damages }: InspectedDirectory, place: string): Diagnosis[] {
  const found: Diagnosis[] = []
  const order = damages.get('all files')
  const say = (name: string, detail: string) => {
    const damage = damages.get(name)
    found.push({ file: join(place, name), state: damage === undefined ? 'whole' : 'damaged', detail: damage ?? detail })
  }
  const end = manifest?.clean ? 'closed in order' : 'not closed in order'
  say(MANIFEST, `format ${manifest?.format}, written by ${manifest?.version}, seed ${manifest?.seed}, ${end}`)
  for (const [name, { whole }] of journals) say(fileOfJournal(name), `${whole.length} entries`)
  if (order !== undefined) found.push({ file: place || 'directory', state: 'damaged', detail: order })
  return found
}
