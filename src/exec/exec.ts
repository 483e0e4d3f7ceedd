import type { FaultRule } from '../control/contract.ts'
import { SandboxClock } from '../domain/clock.ts'
import { parseFaultText } from '../faults/fault-header.ts'
import { checkRule } from '../faults/fault-rule.ts'
import { OptionError } from '../option-error.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import { formatPath, wordsOf } from '../support/issue.ts'
import type { Report } from '../verdict/report.ts'
import { applyBaseline, type BaselineEntry } from './baseline.ts'
import { endInAWord, leftBehindInWords } from './command-end.ts'
import { type AskedFor, sharedReport, withCommand } from './exec-command-line.ts'
import { exitCodeOf, USAGE } from './exit-code.ts'
import { misuseOf, withReasons } from './misuse.ts'
import { type ReportFile, writeReports } from './report-files.ts'
import { type AllTerms, runAll } from './run-all.ts'
import type { Run } from './sandbox-run.ts'

/** Options of `exec`. */
export interface ExecTerms extends AllTerms {
  /** Files to write reports to. */
  files: readonly ReportFile[]
  baseline: readonly BaselineEntry[]
  /** True if an inconclusive verdict is acceptable. */
  allowInconclusive: boolean
  /** The flags that repeat a run with this scenario. */
  askedFor(scenario: Scenario | undefined): Omit<AskedFor, 'command'>
  /** Shows the reports to a person; several reports with a table of all. */
  show(reports: readonly Report[], table: string | undefined): void
  /** Called with a run that was not interrupted; its report has the baseline applied. */
  afterwards?(run: Run): Promise<void>
}

/**
 * Runs a command against fresh sandboxes, shows the verdict on it as a client, and writes the reports. Resolves to the exit
 * code. Throws CommandStartError and the errors of a sandbox that cannot start; an unwritable report file is only reported.
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
  const written = await writeReports(
    files,
    reports.map((report) => sharedReport(report, terms.env.HOME)),
    say,
  )
  const [first] = judged
  if (first && !interruption.asked.aborted) await terms.afterwards?.(first)
  const interruptedBy: NodeJS.Signals | undefined = interruption.asked.reason
  const code = exitCodeOf({ runs: judged, badBaseline: complaints.length > 0, allowInconclusive, interruptedBy })
  return code === 0 && !written ? USAGE : code
}

/** The report of a run, completed with facts that only `exec` knows: the flags, and what went wrong with the command itself. */
function reportOf(run: Run, terms: ExecTerms): Report {
  const report = withReasons(run.report, misuseOf(run, terms))
  return withCommand(report, { ...terms.askedFor(run.scenario), command: terms.command })
}

/** Remarks for people about the end of a command. */
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

const HEADER = ['scenario', 'verdict', 'kept', 'broken', 'not tested', 'seconds', "command's code"]
/** Number of columns of text; the others hold numbers. */
const FROM_THE_RIGHT = 2

/** Table of several runs, a line each. */
export function summaryTable(runs: readonly Run[]): string {
  const rows = [HEADER, ...runs.map(rowOf)]
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cell = (text: string, column: number) => {
    const width = widths[column] ?? 0
    return column < FROM_THE_RIGHT ? text.padEnd(width) : text.padStart(width)
  }
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n')
}

function rowOf({ scenario, end, took, report }: Run): string[] {
  const { verdict, proved, contradicted, unproved } = report
  const numbers = [proved, contradicted, unproved].map(String)
  return [scenario?.name ?? '-', verdict, ...numbers, (took / 1000).toFixed(1), endInAWord(end)]
}

/** Reads `--fault`: `drop_connection; phase=after_broadcast; operation=deposit`. Throws OptionError naming each fault in it. */
export function readFault(text: string): FaultRule {
  const rule = parseFaultText(text)
  const { tenant } = (rule.match ?? {}) as { tenant?: string }
  // Only the sandbox knows its tenants: any is accepted here.
  const checked = checkRule(rule, tenant === undefined ? [] : [tenant])
  if (!Array.isArray(checked)) return rule as FaultRule
  const faults = checked.map((issue) => `${formatPath(issue.path)}: ${wordsOf(issue)}`)
  throw new OptionError(faults.map((fault) => `--fault "${shorten(text)}": ${fault}`).join('\n'))
}
