import { createRequire } from 'node:module'
import type { Viem } from './viem.ts'

/**
 * The viem that the caller would import. Loaded only after the chains have started: it is the slowest import, and the command line does
 * not need it. Where `import()` does not work, as in Jest's default setup and in Vitest's `vmThreads`, the one that `require` finds.
 */
export async function loadViem(): Promise<Viem> {
  try {
    return await import('viem')
  } catch {
    return requireViem()
  }
}

/** The viem that `require` finds, at once. */
export function requireViem(): Viem {
  return createRequire(import.meta.url)('viem')
}
