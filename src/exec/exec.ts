import { SandboxClock } from '../domain/clock.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import type { Report } from '../verdict/report.ts'
import { applyBaseline } from './apply-baseline.ts'
import type { BaselineEntry } from './baseline-schema.ts'
import { exitCodeOf, USAGE } from './exit-code.ts'
import { leftBehindInWords } from './left-behind.ts'
import { misuseOf, withReasons } from './misuse.ts'
import { type ReportFile, writeReports } from './report-files.ts'
import { type AllTerms, runAll } from './run-all.ts'
import type { Run } from './sandbox-run.ts'
import { summaryTable } from './summary-table.ts'
import { type AskedFor, withCommand } from './with-command.ts'

/** What `exec` is to do. */
export interface ExecTerms extends AllTerms {
  /** Where reports are to be written. */
  files: readonly ReportFile[]
  baseline: readonly BaselineEntry[]
  /** Whether an inconclusive verdict is good enough. */
  allowInconclusive: boolean
  /** The flags that ask for a run with this scenario again. */
  askedFor(scenario: Scenario | undefined): Omit<AskedFor, 'command'>
  /** Shows the reports to a person; those of several runs with a table of all. */
  show(reports: readonly Report[], table: string | undefined): void
  /** What else is to be done with a run that ended by itself, its report as the baseline leaves it. */
  afterwards?(run: Run): Promise<void>
}

/**
 * Runs a command against fresh sandboxes, shows what is to be said of it as a client, and writes it down. Resolves to the exit
 * code. Throws CommandStartError and the errors of a sandbox that cannot start; a report's file that cannot be written is said.
 */
export async function exec(terms: ExecTerms): Promise<number> {
  const { files, baseline, allowInconclusive, show, say, interruption } = terms
  const runs = await runAll(terms)
  for (const run of runs) for (const line of remarks(run, terms)) say(line)
  const now = new SandboxClock().wallNow()
  const { reports, complaints } = applyBaseline(
    runs.map((run) => reportOf(run, terms)),
    baseline,
    now,
  )
  const judged = runs.map((run, i) => ({ ...run, report: reports[i] ?? run.report }))
  if (reports.length > 0) show(reports, runs.length > 1 ? summaryTable(judged) : undefined)
  for (const complaint of complaints) say(complaint)
  const written = await writeReports(files, reports, say)
  const [first] = judged
  if (first && !interruption.asked.aborted) await terms.afterwards?.(first)
  const interruptedBy: NodeJS.Signals | undefined = interruption.asked.reason
  const code = exitCodeOf({ runs: judged, badBaseline: complaints.length > 0, allowInconclusive, interruptedBy })
  return code === 0 && !written ? USAGE : code
}

/** The report of a run, with what only `exec` knows: how it was asked for, and what went wrong with the command itself. */
function reportOf(run: Run, terms: ExecTerms): Report {
  const report = withReasons(run.report, misuseOf(run, terms))
  return withCommand(report, { ...terms.askedFor(run.scenario), command: terms.command })
}

/** What a person has to know of how a command ended. */
function remarks({ scenario, end, report }: Run, { command: [name = ''] }: ExecTerms): string[] {
  const where = scenario ? ` (scenario ${scenario.name})` : ''
  const left = leftBehindInWords(name, end.leftBehind, where)
  const tenants = [...new Set(report.operations.flatMap(({ tenant }) => tenant ?? []))]
  return [
    ...(left === undefined ? [] : [left]),
    ...(tenants.length > 1
      ? [`${name} used ${tenants.length} tenants${where}, each judged by itself: ${tenants.join(', ')}`]
      : []),
  ]
}
