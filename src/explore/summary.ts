import { FAILED, INCONCLUSIVE } from '../exec/exit-code.ts'
import type { Level } from '../oracle/outcome.ts'
import type { Verdict } from '../verdict/report.ts'
import { type Exploration, TRIAL_OUTCOMES, type TrialOutcome } from './exploration.ts'
import { isBad } from './judge/judge-trial.ts'
import { codeWithUntried } from './untried-transfers.ts'

/** What an exploration comes to. */
export interface ExplorationSummary {
  verdict: Verdict
  counts: Record<TrialOutcome, number>
}

/** Levels at which nobody can say that a client is right. */
const OPEN: readonly Level[] = ['inconclusive', 'review']

/** Failed: money went astray, or a command hung. Inconclusive: it may have, or no fault ever struck. Otherwise passed. */
export function summaryOf({ results }: Pick<Exploration, 'results'>): ExplorationSummary {
  const counts = Object.fromEntries(TRIAL_OUTCOMES.map((outcome) => [outcome, 0])) as Record<TrialOutcome, number>
  for (const { outcome } of results) counts[outcome]++
  const isOpen = results.some(({ level }) => OPEN.includes(level)) || counts.not_exercised === results.length
  const verdict = results.some(({ level }) => isBad(level)) ? 'failed' : isOpen ? 'inconclusive' : 'passed'
  return { verdict, counts }
}

/** The exit code of `explore`. */
export function exitCodeOf(exploration: Pick<Exploration, 'results' | 'untried'>, allowInconclusive = false): number {
  const code = { passed: 0, failed: FAILED, inconclusive: INCONCLUSIVE }[summaryOf(exploration).verdict]
  return codeWithUntried(code, exploration, allowInconclusive)
}
