import { FAILED, INCONCLUSIVE } from '../exec/exit-code.ts'
import { TRANSFERS } from '../faults/parameters.ts'
import type { Level } from '../oracle/outcome.ts'
import type { Verdict } from '../verdict/report.ts'
import { type AssumptionOutcome, type Exploration, TRIAL_OUTCOMES, type TrialOutcome } from './exploration.ts'
import { isBad } from './judge/judge-trial.ts'

/** The conclusion of an exploration. */
export interface ExplorationSummary {
  verdict: Verdict
  counts: Record<TrialOutcome, number>
}

/** Levels at which the client cannot be called right. */
const OPEN: readonly Level[] = ['inconclusive', 'review']

/** Members that a conclusion is drawn from. */
type Concluded = Pick<Exploration, 'results' | 'assumptions'>

/** Outcomes under another setting that leave open whether the client works with the live service. */
const UNSURE: readonly AssumptionOutcome[] = ['breaks', 'errored', 'untried']

/**
 * Failed: money went astray, or a command hung. Inconclusive: it may have, no fault ever struck, or the command breaks under another
 * setting of the service, which the live service may have or not. Otherwise passed.
 */
export function explorationSummary({ results, assumptions }: Concluded): ExplorationSummary {
  const counts = Object.fromEntries(TRIAL_OUTCOMES.map((outcome) => [outcome, 0])) as Record<TrialOutcome, number>
  for (const { outcome } of results) counts[outcome]++
  const others = assumptions ?? []
  const isAboutFaults = assumptions === undefined || results.length > 0
  const isOpen =
    results.some(({ level }) => OPEN.includes(level)) ||
    (isAboutFaults && counts.not_exercised === results.length) ||
    others.some(({ outcome }) => UNSURE.includes(outcome)) ||
    (others.length > 0 && others.every(({ outcome }) => outcome === 'not_met'))
  const verdict = [...results, ...others].some(({ level }) => isBad(level))
    ? 'failed'
    : isOpen
      ? 'inconclusive'
      : 'passed'
  return { verdict, counts }
}

/** The exit code of `explore`. */
export function explorationExitCode(
  exploration: Concluded & Pick<Exploration, 'untried'>,
  allowInconclusive = false,
): number {
  const code = { passed: 0, failed: FAILED, inconclusive: INCONCLUSIVE }[explorationSummary(exploration).verdict]
  return codeWithUntried(code, exploration, allowInconclusive)
}

/** Number of trials that could have moved money, and were planned but not tried. */
export function untriedTransfers({ untried }: Pick<Exploration, 'untried'>): number {
  const trials = untried?.trials ?? []
  return trials.filter(({ harms }) => harms.some(({ position }) => TRANSFERS.includes(position.operation))).length
}

/**
 * The exit code of an exploration, based on that of its verdict: trials at transfers that were not tried make it inconclusive. An
 * inconclusive exploration passes if that is allowed.
 */
export function codeWithUntried(
  code: number,
  exploration: Pick<Exploration, 'untried'>,
  allowInconclusive: boolean,
): number {
  const own = code === 0 && untriedTransfers(exploration) > 0 ? INCONCLUSIVE : code
  return own === INCONCLUSIVE && allowInconclusive ? 0 : own
}

/** "9 more, 6 of them at transfers (--max-runs 2)": trials that were not tried; undefined when there are none. */
export function notTriedInWords(exploration: Pick<Exploration, 'untried'>): string | undefined {
  const { untried } = exploration
  if (untried === null) return undefined
  const transfers = untriedTransfers(exploration)
  const at = transfers === 0 ? 'none of them at transfers' : `${transfers} of them at transfers`
  return `${untried.trials.length} more, ${at} (${untried.reason})`
}
