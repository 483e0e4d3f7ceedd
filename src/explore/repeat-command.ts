import { shellWords } from '../support/shell-words.ts'
import type { Exploration } from './exploration.ts'
import { faultRules, faultText } from './fault-rules.ts'
import type { PlannedTrial } from './plan.ts'

/** What `exec` has to be given besides, such as `--fixtures`. */
export type SameTerms = Pick<Exploration, 'command' | 'seed' | 'clock'> & {
  flags: readonly string[]
  /** Whether the clock stands still. */
  still: boolean
}

/** A command line that does a trial again. */
export function repeatCommand({ harms }: PlannedTrial, { command, seed, clock, still, flags }: SameTerms): string {
  const faults = faultRules(harms).flatMap((rule) => ['--fault', faultText(rule)])
  const at = still && !harms.some(({ hazard }) => hazard.holds) ? ['--clock', clock] : []
  return shellWords(['yield-sandbox', 'exec', ...faults, '--seed', String(seed), ...at, ...flags, '--', ...command])
}
