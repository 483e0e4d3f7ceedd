import type { Level, OperationOutcome } from '../oracle/outcome.ts'
import type { Coverage } from './coverage.ts'
import { plural } from './evidence/words.ts'
import type { ConfigurationCause, Covered, Report, ReportedFinding } from './report.ts'

/** Traffic that must occur before there is a verdict. */
export type ExpectedTraffic = Partial<Record<keyof Coverage, readonly string[]>>

type Judged = Pick<Report, 'verdict' | 'summary' | 'unmet'>

/** Input of a verdict. Findings and operations in the order of a report: the gravest first. */
export interface Grounds {
  findings: readonly ReportedFinding[]
  configuration: readonly ConfigurationCause[]
  operations: readonly OperationOutcome[]
  coverage: Coverage
  traffic: ExpectedTraffic
  /** Reasons why it must not be passed, whatever the rest shows: a sentence each. */
  reasons: readonly string[]
}

/** The verdict, the reasons why it is no better, and a summary in one sentence. */
export function verdictOf(grounds: Grounds): Judged {
  const { findings, coverage } = grounds
  const unmet = unmetBy(grounds)
  const failures = failuresOf(grounds)
  const [gravest] = failures
  if (gravest !== undefined)
    return { verdict: 'failed', summary: `Failed: ${withMore(gravest, failures.length)}`, unmet }
  const kept = findings.filter(({ outcome }) => outcome === 'passed').length
  if (kept === 0 && unmet.length === 0) unmet.push(nothingKept(findings, coverage))
  const [first] = unmet
  if (first !== undefined) {
    return { verdict: 'inconclusive', summary: `Inconclusive: ${withMore(first, unmet.length)}`, unmet }
  }
  return { verdict: 'passed', summary: `Passed: ${plural(kept, 'rule')} kept, none broken.`, unmet }
}

/** Failures, the money first: a sentence each. Those that a baseline accepts are left out. */
export function failuresOf({ findings, operations }: Pick<Grounds, 'findings' | 'operations'>): string[] {
  const broken = findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined)
  return [...sentencesOf(operations, ['critical', 'serious']), ...broken.map(({ title }) => title)]
}

/** Reasons against passing although nothing failed; forgotten requests come first. */
function unmetBy({ findings, configuration, operations, coverage, traffic, reasons }: Grounds): string[] {
  return [
    ...sentencesOf(operations, ['inconclusive']),
    ...reasons,
    ...configuration.filter(({ blocking }) => blocking).map(({ title }) => `${title}.`),
    ...sentencesOf(operations, ['review']),
    ...unmetFindings(findings),
    // The expected traffic may have been forgotten.
    ...(operations.some(({ outcome }) => outcome === 'forgotten') ? [] : unseen(coverage, traffic)),
  ]
}

function sentencesOf(operations: readonly OperationOutcome[], levels: readonly Level[]): string[] {
  return operations.filter(({ level }) => levels.includes(level)).map(({ sentence }) => sentence)
}

function withMore(sentence: string, all: number): string {
  const more = all > 1 ? ` (and ${all - 1} more)` : ''
  // The second sentence of an operation may give advice; there is room for that elsewhere.
  const [first = ''] = sentence.split(/(?<=\.) /)
  return `${begun(first).replace(/\.$/, '')}${more}.`
}

/** A critical finding that needs review may mean that money moved twice, so it counts although nobody requires it. */
function unmetFindings(findings: readonly ReportedFinding[]): string[] {
  return findings.flatMap(({ id, outcome, impact, required }) => {
    if (outcome === 'errored') return [`The judge of ${id} failed.`]
    if (outcome === 'needs_review' && impact === 'critical') return [`The critical finding ${id} needs review.`]
    if (!required) return []
    if (outcome === 'not_exercised') return [`The required finding ${id} was not exercised.`]
    return outcome === 'needs_review' ? [`The required finding ${id} needs review.`] : []
  })
}

const SEEN: Record<keyof Coverage, (id: string) => string> = {
  operations: (id) => `The scenario expects the operation ${id}, and the client never asked for it.`,
  errors: (id) => `The scenario expects the error ${id}, and nothing was answered with it.`,
  faults: (id) => `The scenario expects the fault ${id} to strike, and it never did.`,
}

function unseen(coverage: Coverage, traffic: ExpectedTraffic): string[] {
  return (['operations', 'errors', 'faults'] as const).flatMap((kind) =>
    (traffic[kind] ?? []).filter((id) => !isCovered(coverage[kind], id)).map((id) => SEEN[kind](id)),
  )
}

function isCovered(covered: readonly Covered[], id: string): boolean {
  return covered.some((one) => one.id === id && one.exercised)
}

function nothingKept(findings: readonly ReportedFinding[], { operations }: Coverage): string {
  if (findings.some(({ outcome }) => outcome === 'needs_review' || outcome === 'failed'))
    return 'No rule is known to be kept: all that the client was exercised on needs review, or is accepted by the baseline.'
  return operations.some(({ exercised }) => exercised)
    ? 'The client was not exercised on anything that there is a finding about.'
    : 'No request of the client came.'
}

/** A sentence as it goes on after a colon: names keep their capitals. */
function begun(sentence: string): string {
  return /^[A-Z][a-z]*[ ,]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence
}
