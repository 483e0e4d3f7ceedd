import { INCONCLUSIVE } from '../exec/exit-code.ts'
import { TRANSFERS } from '../faults/operation-groups.ts'
import type { Exploration } from './exploration.ts'

/** How many trials that could have moved money were planned and not tried. */
export function untriedTransfers({ untried }: Pick<Exploration, 'untried'>): number {
  const trials = untried?.trials ?? []
  return trials.filter(({ harms }) => harms.some(({ position }) => TRANSFERS.includes(position.operation))).length
}

/**
 * The exit code of an exploration, after that of its verdict: what was left out at transfers is not passed. What is inconclusive passes
 * where that is allowed.
 */
export function codeWithUntried(
  code: number,
  exploration: Pick<Exploration, 'untried'>,
  allowInconclusive: boolean,
): number {
  const own = code === 0 && untriedTransfers(exploration) > 0 ? INCONCLUSIVE : code
  return own === INCONCLUSIVE && allowInconclusive ? 0 : own
}

/** "9 more, 6 of them at transfers (--max-runs 2)": what was not tried; undefined when all of it was. */
export function notTriedInWords(exploration: Pick<Exploration, 'untried'>): string | undefined {
  const { untried } = exploration
  if (untried === null) return undefined
  const transfers = untriedTransfers(exploration)
  const at = transfers === 0 ? 'none of them at transfers' : `${transfers} of them at transfers`
  return `${untried.trials.length} more, ${at} (${untried.reason})`
}
