import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** Bytes of a file that is read; of a greater one, such as a runtime, the size and the time of its last change have to do. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Digests of the files that words of a command line name, by word: the command itself and arguments, as paths from the working
 * directory. What those files load is not among them.
 */
export function filesOfCommand(words: readonly string[]): Record<string, string> {
  const digests = new Map<string, string>()
  for (const word of words) {
    const digest = digestOf(word)
    if (digest !== undefined) digests.set(word, digest)
  }
  return Object.fromEntries(digests)
}

function digestOf(path: string): string | undefined {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return undefined
    const content = stat.size > MOST_BYTES ? `${stat.size} ${stat.mtimeMs}` : readFileSync(path)
    return createHash('sha256').update(content).digest('hex')
  } catch {
    // No file, or one that may not be read: nothing is known of it.
    return undefined
  }
}
