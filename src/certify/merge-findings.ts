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
 * scenarios that show it.
 */
export function mergeFindings(scenarios: readonly ScenarioFindings[]): Evidence['findings'] {
  return FINDING_IDS.map((id) => {
    const showing = (outcome: ReportedFinding['outcome']) =>
      scenarios
        .filter(({ findings }) => findings.some((one) => one.id === id && one.outcome === outcome))
        .map(({ name }) => name)
    const [failed, passed] = [showing('failed'), showing('passed')]
    if (failed.length > 0) return { id, outcome: 'contradicted' as const, scenarios: failed }
    if (passed.length > 0) return { id, outcome: 'proved' as const, scenarios: passed }
    return { id, outcome: 'unproved' as const, scenarios: [] }
  })
}
