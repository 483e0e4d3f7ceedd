import { shellWords } from '../support/shell-words.ts'

/** What does a run again, beside the faults. */
export interface SameRun {
  seed: number
  /** Flags that make the same sandbox and the same environment, as one writes them. */
  flags: readonly string[]
  command: readonly string[]
}

/** A command line that runs a command against the same sandbox again; `what` goes wrong in it, such as `--scenario` and its name. */
export function execCommandLine(what: readonly string[], { seed, flags, command }: SameRun): string {
  return shellWords(['yield-sandbox', 'exec', ...what, '--seed', String(seed), ...flags, '--', ...command])
}
