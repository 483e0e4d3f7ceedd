import { SandboxClock } from '../domain/clock.ts'
import type { Report } from '../verdict/report.ts'
import { applyBaseline } from './apply-baseline.ts'
import type { BaselineEntry } from './baseline-schema.ts'
import { exitCodeOf } from './exit-code.ts'
import { leftBehindInWords } from './left-behind.ts'
import { type ReportFile, writeReports } from './report-files.ts'
import { type AllTerms, runAll } from './run-all.ts'
import type { Run } from './sandbox-run.ts'
import { summaryTable } from './summary-table.ts'

/** What `exec` is to do. */
export interface ExecTerms extends AllTerms {
  /** Where reports are to be written. */
  files: readonly ReportFile[]
  baseline: readonly BaselineEntry[]
  /** Whether an inconclusive verdict is good enough. */
  allowInconclusive: boolean
  /** Shows the reports to a person; those of several runs with a table of all. */
  show(reports: readonly Report[], table: string | undefined): void
  /** What else is to be done with a run that ended by itself, its report as the baseline leaves it. */
  afterwards?(run: Run): Promise<void>
}

/**
 * Runs a command against fresh sandboxes, shows what is to be said of it as a client, and writes it down. Resolves to the exit
 * code. Throws CommandStartError, the errors of a sandbox that cannot start, and the operating system's about a report's file.
 */
export async function exec(terms: ExecTerms): Promise<number> {
  const { files, baseline, allowInconclusive, show, say, interruption } = terms
  const runs = await runAll(terms)
  for (const run of runs) for (const line of remarks(run, terms)) say(line)
  const now = new SandboxClock().wallNow()
  const { reports, complaints } = applyBaseline(
    runs.map(({ report }) => report),
    baseline,
    now,
  )
  const judged = runs.map((run, i) => ({ ...run, report: reports[i] ?? run.report }))
  if (reports.length > 0) show(reports, runs.length > 1 ? summaryTable(judged) : undefined)
  for (const complaint of complaints) say(complaint)
  await writeReports(files, reports)
  const [first] = judged
  if (first && !interruption.asked.aborted) await terms.afterwards?.(first)
  const interruptedBy: NodeJS.Signals | undefined = interruption.asked.reason
  return exitCodeOf({ runs: judged, badBaseline: complaints.length > 0, allowInconclusive, interruptedBy })
}

/** What a person has to know of how a command ended. */
function remarks({ scenario, end }: Run, { command: [name = ''], timeout = 0 }: ExecTerms): string[] {
  const where = scenario ? ` (scenario ${scenario.name})` : ''
  const left = leftBehindInWords(name, end.leftBehind, where)
  return [
    ...(end.timedOut ? [`${name} was not done after ${timeout / 1000} s${where}: ended`] : []),
    ...(left === undefined ? [] : [left]),
  ]
}
