import { plural } from '../evidence/words.ts'
import type { Outcome } from '../finding.ts'
import type { Report, ReportedFinding } from '../report.ts'

/** Findings by their outcome, each in the order of the report. */
export function byOutcome({ findings }: Pick<Report, 'findings'>): Record<Outcome, ReportedFinding[]> {
  const of = (wanted: Outcome) => findings.filter(({ outcome }) => outcome === wanted)
  return {
    failed: of('failed'),
    needs_review: of('needs_review'),
    errored: of('errored'),
    passed: of('passed'),
    not_exercised: of('not_exercised'),
  }
}

/** "16 rules kept, 1 broken, 12 not tested" */
export function tally({
  proved,
  contradicted,
  unproved,
}: Pick<Report, 'proved' | 'contradicted' | 'unproved'>): string {
  return `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested`
}

/** What a report is of, in a few words. */
export function nameOf({ scenario }: Pick<Report, 'scenario'>): string {
  return scenario ?? 'no scenario'
}
