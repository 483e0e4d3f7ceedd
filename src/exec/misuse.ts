import type { FaultRule } from '../control/contract.ts'
import { shorten } from '../support/foreign-text.ts'
import type { Report } from '../verdict/report.ts'
import { codeOfEnd } from './command-end.ts'
import { isIdle } from './exit-code.ts'
import type { Run } from './sandbox-run.ts'

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
      ? [idleInWords(name, codeOfEnd(end), terms.env)]
      : []),
    // A fault may have struck one of the forgotten requests.
    ...(askedNothing || hasForgotten ? [] : missed.map((rule) => missedInWords(name, rule))),
  ]
}

/** The parts of a run that are needed here. */
export type MisusedRun = Pick<Run, 'before' | 'end' | 'report' | 'otherNamespaces' | 'missed'>

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

function namespacesInWords(name: string, count: number): string {
  const what = count === 1 ? 'a namespace' : `${count} namespaces`
  return `${name} made ${what} of its own, and requests there are not judged: let it use YIELD_BASE_URL and the credentials that exec gives it.`
}

function missedInWords(name: string, { kind, match }: FaultRule): string {
  const where = match?.operation === undefined ? '' : ` at ${match.operation}`
  return `The fault ${kind}${where} never struck: ${name} ended before a request came that it fits, or took the fault away.`
}
