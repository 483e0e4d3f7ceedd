import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../cli/command.ts'

/** Whether the repository has a file at the path with a test of that name, as the source spells it. */
export function isTest({ path, name }: { path: string; name: string }): boolean {
  const file = join(ROOT, path)
  if (!existsSync(file)) return false
  const source = readFileSync(file, 'utf8')
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`))
}
