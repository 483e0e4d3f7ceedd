import type { Outcome } from '../finding.ts'
import type { Report, ReportedFinding } from '../report.ts'

/** Findings by their outcome, each in the order of the report. */
export function byOutcome({ findings }: Report): Record<Outcome, ReportedFinding[]> {
  const of = (wanted: Outcome) => findings.filter(({ outcome }) => outcome === wanted)
  return {
    failed: of('failed'),
    needs_review: of('needs_review'),
    errored: of('errored'),
    passed: of('passed'),
    not_exercised: of('not_exercised'),
  }
}

/** "3 proved, 1 contradicted, 25 unproved" */
export function tally({ proved, contradicted, unproved }: Report): string {
  return `${proved} proved, ${contradicted} contradicted, ${unproved} unproved`
}

/** What a report is of, in a few words. */
export function nameOf({ scenario }: Report): string {
  return scenario ?? 'no scenario'
}
