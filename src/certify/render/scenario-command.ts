import { execCommandLine } from '../../exec/exec-command-line.ts'
import type { Evidence } from '../evidence.ts'

/** A command line that runs the command through a scenario again, as `certify` did. `exec` has no --tolerate. */
export function scenarioCommand(scenario: string, { seed, flags, command }: Evidence): string {
  const kept = flags[0] === '--tolerate' ? flags.slice(1) : flags
  return execCommandLine(['--scenario', scenario], { seed, flags: kept, command })
}
