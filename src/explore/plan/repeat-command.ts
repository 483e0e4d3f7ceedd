import { execCommandLine } from '../../exec/exec-command-line.ts'
import type { Exploration } from '../exploration.ts'
import { faultRules, faultText } from './fault-rules.ts'
import type { PlannedTrial } from './plan.ts'

/** What `exec` has to be given besides, such as `--fixtures`. */
export type SameTerms = Pick<Exploration, 'command' | 'seed' | 'clock'> & {
  flags: readonly string[]
  /** Whether the clock stands still. */
  still: boolean
}

/** A command line that does a trial again. */
export function repeatCommand({ harms }: PlannedTrial, terms: SameTerms): string {
  const faults = faultRules(harms).flatMap((rule) => ['--fault', faultText(rule)])
  return execCommand(faults, harms, terms)
}

/** A command line that does what a scenario file has of these harms. */
export function repeatScenario(file: string, harms: PlannedTrial['harms'], terms: SameTerms): string {
  return execCommand(['--scenario', file], harms, terms)
}

function execCommand(what: readonly string[], harms: PlannedTrial['harms'], terms: SameTerms): string {
  const { clock, still, flags } = terms
  const at = still && !harms.some(({ hazard }) => hazard.holds) ? ['--clock', clock] : []
  return execCommandLine(what, { ...terms, flags: [...at, ...flags] })
}
