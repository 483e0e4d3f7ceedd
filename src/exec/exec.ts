import type { FaultRule } from '../control/contract.ts'
import { SandboxClock } from '../domain/clock.ts'
import { checkRule, parseFaultText } from '../faults/fault-rule.ts'
import { OptionError } from '../option-error.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import { formatPath, wordsOf } from '../support/issue.ts'
import type { Report } from '../verdict/report.ts'
import { applyBaseline, type BaselineEntry } from './baseline.ts'
import { codeOfEnd, leftBehindInWords } from './command-end.ts'
import { type AskedFor, sharedReport, withCommand } from './exec-command-line.ts'
import { type ExecResult, execResult, summaryTable } from './exec-result.ts'
import { exitCodeOf, isIdle, USAGE } from './exit-code.ts'
import type { Astray } from './ground.ts'
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
  /** Called at the end, for programs. */
  tell?(result: ExecResult): void
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
  const exitCode = code === 0 && !written ? USAGE : code
  terms.tell?.(execResult(judged, exitCode))
  return exitCode
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

/** Circumstances of the run. */
export interface MisuseTerms {
  command: readonly string[]
  /** The caller's environment. */
  env: NodeJS.ProcessEnv
  /** Time limit of the command in milliseconds; undefined for no limit. */
  timeout: number | undefined
}

/** The sentence of verdictOf for a client that sent no request; the sentences here are more precise. */
const NOTHING_CAME = 'No request of the client came.'

/**
 * Reasons why a run shows less of the client than its report suggests: the command was killed, sent no request, or used namespaces of
 * its own, or a fault never struck. One sentence each.
 */
export function misuseOf(run: MisusedRun, terms: MisuseTerms): string[] {
  const { before, end, report, otherNamespaces, missed } = run
  // The command was not run then; the report says so.
  if (before) return []
  const { command, timeout = 0 } = terms
  const [name = ''] = command
  const hasForgotten = forgottenIn(report).length > 0
  const askedNothing = isIdle(report) && !hasForgotten
  return [
    ...(end.timedOut ? [`${name} was not done after ${timeout / 1000} s: ended.`] : []),
    ...(end.signal !== null && !end.timedOut
      ? [`${name} was killed by ${end.signal}: what it would have done next is not known.`]
      : []),
    ...(otherNamespaces > 0 ? [namespacesInWords(name, otherNamespaces)] : []),
    ...(askedNothing && otherNamespaces === 0 && end.signal === null && !end.timedOut
      ? [idleInWords(name, codeOfEnd(end), terms.env), ...astrayInWords(run.astray)]
      : []),
    // A fault may have struck one of the forgotten requests.
    ...(askedNothing || hasForgotten ? [] : missed.map((rule) => missedInWords(name, rule))),
  ]
}

/** The parts of a run that are needed here. */
export type MisusedRun = Pick<Run, 'before' | 'end' | 'report' | 'otherNamespaces' | 'missed' | 'astray'>

/** Adds reasons against passing to a report; one that failed stays failed. */
export function withReasons(report: Report, reasons: readonly string[]): Report {
  if (reasons.length === 0) return report
  const forgotten = forgottenIn(report)
  const others = report.unmet.filter((reason) => reason !== NOTHING_CAME && !forgotten.includes(reason))
  const unmet = [...forgotten, ...reasons, ...others]
  if (report.verdict === 'failed') return { ...report, unmet }
  return { ...report, verdict: 'inconclusive', summary: inconclusiveSummary(unmet), unmet }
}

/** Sentences about forgotten requests: they come first, since the verdict could not take those into account. */
function forgottenIn({ operations }: Pick<Report, 'operations'>): string[] {
  return operations.filter(({ outcome }) => outcome === 'forgotten').map(({ sentence }) => sentence)
}

function inconclusiveSummary([first = '', ...others]: readonly string[]): string {
  const more = others.length > 0 ? ` (and ${others.length} more ${others.length === 1 ? 'reason' : 'reasons'})` : ''
  return `Inconclusive: ${first.replace(/\.$/, '')}${more}.`
}

function idleInWords(name: string, code: number, { YIELD_SANDBOX_URL: other }: NodeJS.ProcessEnv): string {
  if (code !== 0) return `${name} ended with code ${code} and sent the sandbox no request.`
  const idle = `${name} sent this sandbox no request`
  if (other !== undefined && other !== '') {
    return `${idle}, and YIELD_SANDBOX_URL in your environment names another one, ${shorten(other, 100)}: let your app take the address from YIELD_BASE_URL, which exec sets.`
  }
  return `${idle}, which exec gives it in YIELD_BASE_URL: if your app reads another variable, name it with --env THEIR_NAME=YIELD_BASE_URL.`
}

function astrayInWords(astray: Astray | undefined): string[] {
  if (astray === undefined || astray.requests === 0) return []
  const { url, requests } = astray
  const came = requests === 1 ? 'A request came' : `${requests} requests came`
  return [
    `${came} meanwhile to ${url}, the sandbox of this folder: perhaps your app has that address in its own settings.`,
  ]
}

function namespacesInWords(name: string, count: number): string {
  const what = count === 1 ? 'a namespace' : `${count} namespaces`
  return `${name} made ${what} of its own, and requests there are not judged: let it use YIELD_BASE_URL and the credentials that exec gives it.`
}

function missedInWords(name: string, { kind, match }: FaultRule): string {
  const where = match?.operation === undefined ? '' : ` at ${match.operation}`
  return `The fault ${kind}${where} never struck: ${name} ended before a request came that it fits, or took the fault away.`
}
