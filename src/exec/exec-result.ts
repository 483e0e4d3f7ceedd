import { LEVELS, OUTCOMES } from '../oracle/outcome.ts'
import { columnLines } from '../render/columns.ts'
import { mergedReport, type Report, type Verdict } from '../verdict/report.ts'
import { endInAWord } from './command-end.ts'
import type { Run } from './sandbox-run.ts'

/** What `exec --json` prints. */
export interface ExecResult {
  verdict: Verdict
  /** One sentence. */
  summary: string
  /** With which `exec` ends. */
  exit_code: number
  /** In the order of the scenarios; one run without any. */
  runs: ExecRun[]
}

/** One run of the command in an {@link ExecResult}. */
interface ExecRun {
  scenario: string | null
  verdict: Verdict
  /** The command's exit code, the signal that ended it, or `timeout`. */
  command: string
  /** Why the verdict is no better, in a few words; empty if it is passed. */
  reason: string
  seconds: number
  report: Report
}

/** The result of runs, whose reports have the baseline applied. */
export function execResult(runs: readonly Run[], exit_code: number): ExecResult {
  const { verdict, summary } = mergedReport(runs.map(({ report }) => report))
  const each = runs.map(({ scenario, end, took, report }) => ({
    scenario: scenario?.name ?? null,
    verdict: report.verdict,
    command: endInAWord(end),
    reason: whyOf(report),
    seconds: took / 1000,
    report,
  }))
  return { verdict, summary, exit_code, runs: each }
}

const HEADINGS = ['scenario', 'verdict', "command's code", 'kept', 'broken', 'not tested', 'seconds', 'why']
/** Columns of numbers. */
const RIGHT = [2, 3, 4, 5, 6]

/** Table of several runs, a line each. */
export function summaryTable(runs: readonly Run[]): string {
  return columnLines(HEADINGS, runs.map(rowOf), { right: RIGHT }).join('\n')
}

function rowOf({ scenario, end, took, report }: Run): string[] {
  const { verdict, proved, contradicted, unproved } = report
  const numbers = [proved, contradicted, unproved].map(String)
  const own = endInAWord(end)
  return [scenario?.name ?? '-', verdict, own, ...numbers, (took / 1000).toFixed(1), whyOf(report)]
}

/** Most characters of a sentence in the table. */
const LONGEST = 60

/** The worst outcome of an operation and the broken rules; without either, the first unmet condition. */
function whyOf({ verdict, operations, findings, unmet }: Report): string {
  if (verdict === 'passed') return ''
  const [worst] = [...operations].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  const isGrave = worst?.level === 'critical' || worst?.level === 'serious'
  const broken = findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined)
  const [first, ...others] = broken.map(({ id }) => id)
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  const words = [...(isGrave ? [OUTCOMES[worst.outcome].title] : []), ...(first === undefined ? [] : [first + more])]
  return words.join(', ') || shortened(unmet[0] ?? '')
}

function shortened(sentence: string): string {
  return sentence.length > LONGEST ? `${sentence.slice(0, LONGEST - 1).trimEnd()}…` : sentence.replace(/\.$/, '')
}
