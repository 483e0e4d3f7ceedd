import type { Level } from '../../control/contract.ts'
import { rankOf } from './levels.ts'
import { OPERATION_NAMES } from './list-items.ts'

/** One run with one fault, done or only planned. */
export interface MatrixEntry {
  /** Name of the trial. */
  id: string
  operation: string
  /** Title of the fault. */
  fault: string
  /** `untried` for a run that did not take place. */
  outcome: string
  level: Level
}

/** All runs of one fault at one operation, the worst first. */
export type MatrixCell = readonly [MatrixEntry, ...MatrixEntry[]]

/** Faults by operations. */
export interface FaultMatrix {
  operations: string[]
  /** The worst first; in each, a cell for every operation, undefined where the fault does not apply. */
  rows: { fault: string; cells: (MatrixCell | undefined)[] }[]
}

/** Sorts runs into a matrix. `outcomes`: ids of outcomes, the worst first, for runs of the same level. */
export function matrixOf(entries: readonly MatrixEntry[], outcomes: readonly string[]): FaultMatrix {
  const worstFirst = (a: MatrixEntry, b: MatrixEntry) =>
    rankOf(a.level) - rankOf(b.level) || outcomes.indexOf(a.outcome) - outcomes.indexOf(b.outcome)
  const operations = [
    ...new Set([...Object.keys(OPERATION_NAMES), ...entries.map(({ operation }) => operation)]),
  ].filter((operation) => entries.some((entry) => entry.operation === operation))
  const rows = [...new Set(entries.map(({ fault }) => fault))].map((fault) => {
    const own = entries.filter((entry) => entry.fault === fault).sort(worstFirst)
    const cells = operations.map((operation) => {
      const [first, ...others] = own.filter((entry) => entry.operation === operation)
      return first && ([first, ...others] as const)
    })
    return { fault, cells, worst: own[0] }
  })
  return { operations, rows: rows.sort((a, b) => (a.worst && b.worst ? worstFirst(a.worst, b.worst) : 0)) }
}

/** How many runs of a cell are like the worst. */
export function alikeIn(cell: MatrixCell): number {
  const [{ outcome, level }] = cell
  return cell.filter((entry) => entry.outcome === outcome && entry.level === level).length
}
