import type { SandboxClock } from './clock.ts'
import { ChainUnavailableError } from './ports/chain.ts'

/** Milliseconds between attempts, and how many there are: a chain that was lost is back within a second or two. */
const PAUSE = 250
const ATTEMPTS = 20

/**
 * Does a task that begins anew each time, until no chain is lost meanwhile, or `ended` says that it is of no use any more.
 * Throws what the last attempt threw.
 */
export async function retryChainOutage(
  task: () => Promise<void>,
  { clock, ended }: { clock: SandboxClock; ended(): boolean },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (!(error instanceof ChainUnavailableError) || attempt === ATTEMPTS || ended()) throw error
      await clock.wallSleep(PAUSE)
      if (ended()) throw error
    }
  }
}
