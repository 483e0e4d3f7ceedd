import type { Coverage } from './coverage.ts'
import { plural } from './evidence/words.ts'
import type { ConfigurationCause, Covered, Report, ReportedFinding } from './report.ts'

/** Traffic without which there is no verdict. */
export type ExpectedTraffic = Partial<Record<keyof Coverage, readonly string[]>>

type Judged = Pick<Report, 'verdict' | 'summary' | 'unmet'>

/** What a verdict is drawn from. Findings in the order of a report: the gravest first. */
export interface Grounds {
  findings: readonly ReportedFinding[]
  configuration: readonly ConfigurationCause[]
  coverage: Coverage
  traffic: ExpectedTraffic
}

/** The verdict, why it is no better, and one sentence that says it. */
export function verdictOf({ findings, configuration, coverage, traffic }: Grounds): Judged {
  const unmet = [
    ...configuration.filter(({ blocking }) => blocking).map(({ title }) => `${title}.`),
    ...unmetFindings(findings),
    ...unseen(coverage, traffic),
  ]
  const contradicted = findings.filter(({ outcome }) => outcome === 'failed')
  const [gravest] = contradicted
  if (gravest) {
    const more = contradicted.length > 1 ? ` (and ${plural(contradicted.length - 1, 'more finding')} contradicted)` : ''
    return { verdict: 'failed', summary: `Failed: ${begun(gravest.title)}${more}.`, unmet }
  }
  const exercised = findings.filter(({ outcome }) => outcome === 'passed' || outcome === 'needs_review').length
  if (exercised === 0 && unmet.length === 0) unmet.push(nothingSeen(coverage))
  const [first] = unmet
  if (first !== undefined) {
    const more = unmet.length > 1 ? ` (and ${plural(unmet.length - 1, 'more reason')})` : ''
    return { verdict: 'inconclusive', summary: `Inconclusive: ${begun(first).replace(/\.$/, '')}${more}.`, unmet }
  }
  const proved = findings.filter(({ outcome }) => outcome === 'passed').length
  return { verdict: 'passed', summary: `Passed: ${plural(proved, 'finding')} proved, none contradicted.`, unmet }
}

function unmetFindings(findings: readonly ReportedFinding[]): string[] {
  return findings.flatMap(({ id, outcome, required }) => {
    if (outcome === 'errored') return [`The judge of ${id} failed.`]
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

function nothingSeen({ operations }: Coverage): string {
  return operations.some(({ exercised }) => exercised)
    ? 'The client was not exercised on anything that there is a finding about.'
    : 'No request of the client came.'
}

/** A sentence as it goes on after a colon: names keep their capitals. */
function begun(sentence: string): string {
  return /^[A-Z][a-z]*[ ,]/.test(sentence) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence
}
