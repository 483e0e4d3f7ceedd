import { shellWords } from '../../support/shell-words.ts'
import type { Exploration } from '../exploration.ts'

/** What makes the same run, beside the trial. */
export type SameTerms = Pick<Exploration, 'command' | 'seed' | 'clock'> & {
  /** Flags of `explore` that make the same sandbox and the same environment: `--fixtures`, `--env`, `--before`, … */
  flags: readonly string[]
}

/** A command line of POSIX's shell that runs a trial again, with the same seed and clock. */
export function repeatCommand(trialId: string, { command, seed, clock, flags }: SameTerms): string {
  const same = ['--seed', String(seed), '--clock', clock, ...flags]
  return shellWords(['yield-sandbox', 'explore', '--trial', trialId, ...same, '--', ...command])
}
