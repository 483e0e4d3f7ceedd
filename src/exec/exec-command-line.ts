import { shellWords } from '../support/foreign-text.ts'
import { withTilde } from '../support/with-tilde.ts'
import type { Report, ReportedFinding } from '../verdict/report.ts'

/** The parts of a command line that repeats a run, without the faults. */
export interface SameRun {
  seed: number
  /** Flags that give the same sandbox and the same environment, as one writes them. */
  flags: readonly string[]
  command: readonly string[]
}

/** A command line that repeats a run; `what` holds the flags of its faults, such as `--scenario` and a name. */
export function execCommandLine(what: readonly string[], { seed, flags, command }: SameRun): string {
  return shellWords(['yield-sandbox', 'exec', ...what, '--seed', String(seed), ...flags, '--', ...command])
}

/** The end of commands in a report that does not know the client's own command. */
const PLACEHOLDER = ' -- <your test command>'

/** The flags of a run. */
export interface AskedFor extends Omit<SameRun, 'seed'> {
  /** `--scenario` and `--fault`, as one writes them. */
  what: readonly string[]
}

/** Makes the commands of a report pasteable: with the client's own command and, where a rule was broken, all flags that bring it about. */
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

/** A report to be shown to others: paths of its commands in the home folder begin with `~`. Undefined: there is none. */
export function sharedReport(report: Report, home: string | undefined): Report {
  const short = (finding: ReportedFinding): ReportedFinding =>
    finding.exercise_with === undefined
      ? finding
      : { ...finding, exercise_with: withTilde(finding.exercise_with, home) }
  return { ...report, findings: report.findings.map(short) }
}
