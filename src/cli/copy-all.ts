import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OptionError } from '../option-error.ts'
import { DEFAULT_FIXTURES } from '../read-fixture.ts'

/** Folder of the shipped fixture files. */
export const SHIPPED_FIXTURES = dirname(DEFAULT_FIXTURES)

/** Copies of what a fixture file may name, the schema and the demo keys, into a directory. */
export function besideFixture(directory: string): [from: string, to: string][] {
  return ['schema.json', 'demo-keys'].map((name) => [join(SHIPPED_FIXTURES, name), join(directory, name)])
}

/** Copies files and folders into a directory, or none if one of them, or of `more`, exists already. Throws OptionError. */
export async function copyAll(
  directory: string,
  copies: readonly [from: string, to: string][],
  more: readonly string[] = [],
): Promise<void> {
  const there = [...copies.map(([, to]) => to), ...more].find((path) => existsSync(path))
  if (there !== undefined) throw new OptionError(`${there} is there already; name another directory`)
  try {
    if (!existsSync(directory)) await mkdir(directory)
    for (const [from, to] of copies) await cp(from, to, { recursive: true, errorOnExist: true, force: false })
  } catch (error) {
    throw new OptionError(`${directory} cannot be written (${(error as Error).message}); name another directory`)
  }
}
