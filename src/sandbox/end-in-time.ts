import { SandboxClock } from '../domain/clock.ts'
import type { NamespaceRegistry } from '../domain/ports/namespace-registry.ts'
import { abortController } from '../support/waiting.ts'

/** Milliseconds that an end waits for a database that does not answer. */
const PATIENCE_MS = 3_000
/** Milliseconds between two looks if it answers. */
const LOOK_MS = 250

/**
 * Resolves or rejects as the end of a sandbox does. What still waits then for a database that does not answer is given up: it is stored or
 * not, as after a kill, and nobody has an answer to it.
 */
export async function endInTime(registry: NamespaceRegistry | undefined, end: Promise<void>): Promise<void> {
  const clock = new SandboxClock() // for real time only
  const ended = abortController()
  const giveUp = async () => {
    await clock.wallSleep(PATIENCE_MS, ended.signal)
    while (!ended.signal.aborted) {
      if (registry?.awaySince !== undefined) registry.giveUp?.()
      await clock.wallSleep(LOOK_MS, ended.signal)
    }
  }
  if (registry?.giveUp) void giveUp()
  try {
    await end
  } finally {
    ended.abort()
  }
}
