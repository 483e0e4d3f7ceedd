import { FAILED, INCONCLUSIVE } from '../exec/exit-code.ts'
import type { Verdict } from '../verdict/report.ts'
import { type Exploration, TRIAL_OUTCOMES, type TrialOutcome } from './exploration.ts'

/** Outcomes with which a client is not fit for production: they are shown one by one, each with what happened. */
export const BAD: readonly TrialOutcome[] = ['silently_wrong', 'hung', 'noticed_too_late']

/** What an exploration comes to. */
export interface ExplorationSummary {
  verdict: Verdict
  counts: Record<TrialOutcome, number>
}

/** Failed: money went astray, or a command hung. Inconclusive: no fault ever struck. Otherwise passed. */
export function summaryOf({ results }: Pick<Exploration, 'results'>): ExplorationSummary {
  const counts = Object.fromEntries(TRIAL_OUTCOMES.map((outcome) => [outcome, 0])) as Record<TrialOutcome, number>
  for (const { outcome } of results) counts[outcome]++
  const bad = BAD.some((outcome) => counts[outcome] > 0)
  const tried = counts.survived + counts.gave_up_safely
  return { verdict: bad ? 'failed' : tried === 0 ? 'inconclusive' : 'passed', counts }
}

/** The exit code of `explore`. */
export function exitCodeOf(exploration: Pick<Exploration, 'results'>): number {
  return { passed: 0, failed: FAILED, inconclusive: INCONCLUSIVE }[summaryOf(exploration).verdict]
}
