import type { Outcome } from '../finding.ts'
import type { FindingId } from '../finding-ids.ts'
import type { Report } from '../report.ts'

/** How the outcome of a rule is shown in a table. No sign is one that a phone shows as a picture. */
export const RULE_SIGNS: Record<Outcome, { sign: string; name: string }> = {
  failed: { sign: '✗', name: 'broken' },
  errored: { sign: '!', name: 'judge failed' },
  needs_review: { sign: '?', name: 'needs review' },
  passed: { sign: '✓', name: 'kept' },
  not_exercised: { sign: '–', name: 'not tested' },
}

const WORST_FIRST = Object.keys(RULE_SIGNS) as Outcome[]

/** A rule in each of several reports. */
export interface RuleRow {
  id: FindingId
  /** In the order of the reports; undefined in one that does not have it. */
  outcomes: readonly (Outcome | undefined)[]
}

/** Rules that at least one of the reports tested, those that were broken first. */
export function rulesTable(reports: readonly Report[]): RuleRow[] {
  const ids = new Set(reports.flatMap(({ findings }) => findings.map(({ id }) => id)))
  const rows = [...ids].map((id) => ({
    id,
    outcomes: reports.map(({ findings }) => findings.find((finding) => finding.id === id)?.outcome),
  }))
  const worst = ({ outcomes }: RuleRow) => WORST_FIRST.findIndex((outcome) => outcomes.includes(outcome))
  return rows
    .filter(({ outcomes }) => outcomes.some((outcome) => outcome !== undefined && outcome !== 'not_exercised'))
    .sort((a, b) => worst(a) - worst(b))
}
