import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files and folders that only the top of a project has, or the top of one of its packages. */
const TOPS = ['package.json', '.git']

/** The folder that a sandbox started in `directory` belongs to: the nearest one with a package.json or .git, else `directory` itself. */
export function projectFolder(directory: string): string {
  const [own = directory, ...above] = withAncestors(realpathSync(directory))
  return [own, ...above].find((folder) => TOPS.some((top) => existsSync(join(folder, top)))) ?? own
}

/**
 * Folders whose sandbox a command in `directory` may use, the nearest first: `directory` and what is above it, up to the top of its
 * repository. The sandbox of a worktree inside another one is its own.
 */
export function enclosingFolders(directory: string): string[] {
  const all = withAncestors(realpathSync(directory))
  const top = all.findIndex((folder) => existsSync(join(folder, '.git')))
  return top < 0 ? all : all.slice(0, top + 1)
}

function withAncestors(directory: string): string[] {
  const above = dirname(directory)
  return above === directory ? [directory] : [directory, ...withAncestors(above)]
}
