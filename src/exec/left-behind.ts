import { oneLine } from '../support/one-line.ts'

/** "npm left 2 processes running: ended (node, esbuild)"; undefined when it left none. `where` tells runs apart. */
export function leftBehindInWords(command: string, names: readonly string[], where = ''): string | undefined {
  if (names.length === 0) return undefined
  const what = names.length === 1 ? 'a process' : `${names.length} processes`
  return `${command} left ${what} running${where}: ended (${oneLine([...new Set(names)].join(', '), 100)})`
}
