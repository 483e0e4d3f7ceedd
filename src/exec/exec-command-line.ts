import { shellWords } from '../support/foreign-text.ts'
import type { Report, ReportedFinding } from '../verdict/report.ts'

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

/** How a report's commands end that know nothing of the client's own. */
const PLACEHOLDER = ' -- <your test command>'

/** How a run was asked for. */
export interface AskedFor extends Omit<SameRun, 'seed'> {
  /** `--scenario` and `--fault`, as one writes them. */
  what: readonly string[]
}

/** A report whose commands can be pasted: with the command that was run, and where a rule was broken, all that brings it about again. */
export function withCommand(report: Report, { what, flags, command }: AskedFor): Report {
  const again = execCommandLine(what, { seed: report.seed, flags, command })
  const own = ` ${shellWords([...flags, '--', ...command])}`
  const pasteable = (finding: ReportedFinding): ReportedFinding => {
    const { outcome, exercise_with } = finding
    if (exercise_with === undefined) return finding
    if (outcome === 'failed') return { ...finding, exercise_with: again }
    return { ...finding, exercise_with: exercise_with.replace(PLACEHOLDER, () => own) }
  }
  return { ...report, findings: report.findings.map(pasteable) }
}
