import { execCommandLine } from '../../exec/exec-command-line.ts'
import type { Evidence } from '../evidence.ts'
import { withBefore } from '../with-before.ts'

/** A command line that runs the command through a scenario again, as `certify` did. */
export function scenarioCommand(scenario: string, { seed, flags, command }: Evidence): string {
  const { before, kept } = ownFlags(flags)
  return execCommandLine(['--scenario', scenario], { seed, flags: kept, command: withBefore(before, command) })
}

/** `certify`'s own flags stand before those that make the same sandbox. `exec` knows --timeout, too. */
function ownFlags([flag, ...others]: readonly string[]): { before?: string; kept: readonly string[] } {
  if (flag === undefined) return { kept: [] }
  if (flag === '--tolerate') return ownFlags(others)
  const [value = '', ...rest] = others
  if (flag === '--before') return { ...ownFlags(rest), before: value }
  if (flag === '--timeout') {
    const { kept, ...own } = ownFlags(rest)
    return { ...own, kept: [flag, value, ...kept] }
  }
  return { kept: [flag, ...others] }
}
