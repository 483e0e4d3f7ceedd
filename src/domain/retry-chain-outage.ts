import { retryWhile } from '../support/waiting.ts'
import type { SandboxClock } from './clock.ts'
import { ChainUnavailableError, NoNodeFreeError } from './ports/chain.ts'

const PAUSE_MS = 250
/** A chain that was lost is back within a second or two. */
const ATTEMPTS = 20

/**
 * Does a task that begins anew each time, until no chain is lost meanwhile, or `ended` says that it is of no use any more. A chain
 * that got no node is not tried again: that took half a minute already. Throws what the last of so many `attempts` threw, of twenty
 * unless said otherwise.
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
