import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { type Exploration, TRIAL_OUTCOMES, type TrialOutcome, type TrialResult } from './exploration.ts'
import { HAZARDS } from './hazards.ts'

/** All trials of one hazard at one operation. */
export interface Cell {
  /** The worst of them. */
  outcome: TrialOutcome
  results: readonly TrialResult[]
}

/** What can go wrong, by where: a row a hazard, a column an operation. */
export interface Matrix {
  operations: readonly Operation[]
  rows: readonly {
    hazard: string
    title: string /** Undefined where nothing was tried. */
    cells: readonly (Cell | undefined)[]
  }[]
}

/** The matrix of single faults; trials of several are listed, and have no place in it. */
export function matrixOf({ results }: Pick<Exploration, 'results'>): Matrix {
  const singles = results.flatMap((result) => {
    const [harm, ...others] = result.trial.harms
    return harm && others.length === 0 ? [{ result, harm }] : []
  })
  const operations = OPERATIONS.filter((operation) => singles.some(({ harm }) => harm.position.operation === operation))
  const rows = HAZARDS.flatMap(({ id, title }) => {
    const own = singles.filter(({ harm }) => harm.hazard.id === id)
    if (own.length === 0) return []
    const cells = operations.map((operation) =>
      cellOf(own.filter(({ harm }) => harm.position.operation === operation).map(({ result }) => result)),
    )
    return [{ hazard: id, title, cells }]
  })
  return { operations, rows }
}

/** The worst of some outcomes; undefined of none. */
export function worstOf(outcomes: readonly TrialOutcome[]): TrialOutcome | undefined {
  return TRIAL_OUTCOMES.find((outcome) => outcomes.includes(outcome))
}

function cellOf(results: readonly TrialResult[]): Cell | undefined {
  const outcome = worstOf(results.map((result) => result.outcome))
  return outcome && { outcome, results }
}
