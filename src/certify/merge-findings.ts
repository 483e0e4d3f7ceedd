import { FINDING_IDS } from '../verdict/finding-ids.ts'
import type { ReportedFinding } from '../verdict/report.ts'
import type { Evidence } from './evidence.ts'

/** The findings of one scenario. */
export interface ScenarioFindings {
  name: string
  findings: readonly Pick<ReportedFinding, 'id' | 'outcome'>[]
}

/**
 * Every finding once: contradicted where any scenario contradicts it, else proved where any proves it, else unproved; each with the
 * scenarios that show it, one way or the other.
 */
export function mergeFindings(scenarios: readonly ScenarioFindings[]): Evidence['findings'] {
  return FINDING_IDS.map((id) => {
    const showing = (...outcomes: ReportedFinding['outcome'][]) =>
      scenarios
        .filter(({ findings }) => findings.some((one) => one.id === id && outcomes.includes(one.outcome)))
        .map(({ name }) => name)
    const where = {
      contradicted_in: showing('failed'),
      proved_in: showing('passed'),
      review_in: showing('needs_review', 'errored'),
    }
    if (where.contradicted_in.length > 0) return { id, outcome: 'contradicted' as const, ...where }
    return { id, outcome: where.proved_in.length > 0 ? ('proved' as const) : ('unproved' as const), ...where }
  })
}
