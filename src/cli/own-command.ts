import { relative } from 'node:path'
import { shellWords } from '../support/shell-words.ts'

/** What somebody types in `directory` to call this program again, which was started as `path`. */
export function ownCommand(path: string, directory: string): string {
  if (/[\\/]node_modules[\\/]/.test(path)) return 'npx yield-sandbox'
  return path.endsWith('.js') ? shellWords(['node', relative(directory, path)]) : 'yield-sandbox'
}
