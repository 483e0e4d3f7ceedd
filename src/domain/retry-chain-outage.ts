import { retryWhile } from '../support/waiting.ts'
import type { SandboxClock } from './clock.ts'
import { ChainUnavailableError, NoNodeFreeError } from './ports/chain.ts'

const PAUSE_MS = 250
/** A lost chain is back within a second or two. */
const ATTEMPTS = 20

/**
 * Repeats a task from its beginning until no chain is lost meanwhile, or until `ended` returns true. A chain that got no node is not
 * tried again, since the wait for a node took half a minute already. After `attempts` (default 20) it throws the last error.
 */
export function retryChainOutage<Result>(
  task: () => Promise<Result>,
  { clock, ended, attempts = ATTEMPTS }: { clock: SandboxClock; ended(): boolean; attempts?: number },
): Promise<Result> {
  return retryWhile(task, {
    passes: (error, attempt) =>
      error instanceof ChainUnavailableError && !(error instanceof NoNodeFreeError) && attempt < attempts,
    pauseMs: PAUSE_MS,
    sleep: (milliseconds) => clock.wallSleep(milliseconds),
    ended,
  })
}
