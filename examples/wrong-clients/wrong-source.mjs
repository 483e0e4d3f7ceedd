import { readdirSync, readFileSync } from 'node:fs'
import { MISTAKES } from './mistakes.mjs'

const reference = new URL('../clients/typescript/', import.meta.url)

/** Name to text of the reference client's files. */
export function referenceSource() {
  const names = readdirSync(reference).filter((name) => name.endsWith('.ts'))
  return Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, reference), 'utf8')]))
}

/** The same with one mistake. Throws when the mistake is not known, or its place is not there exactly once. */
export function wrongSource(id) {
  const mistake = MISTAKES.find((one) => one.id === id)
  if (!mistake) throw new Error(`no wrong client is called ${id}`)
  const source = referenceSource()
  for (const { file, find, replace } of mistake.edits) {
    const parts = source[file].split(find)
    if (parts.length !== 2) throw new Error(`${id}: ${parts.length - 1} times in ${file}, not once: ${find}`)
    source[file] = parts.join(replace)
  }
  return source
}
