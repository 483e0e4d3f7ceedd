import type { Level } from '../../control/contract.ts'
import { rankOf } from './levels.ts'

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

/** Columns from left to right, as a client meets them. */
const ORDER = [
  'token',
  'list_pools',
  'create_end_user',
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
]

/** Sorts runs into a matrix. `outcomes`: ids of outcomes, the worst first, for runs of the same level. */
export function matrixOf(entries: readonly MatrixEntry[], outcomes: readonly string[]): FaultMatrix {
  const worstFirst = (a: MatrixEntry, b: MatrixEntry) =>
    rankOf(a.level) - rankOf(b.level) || outcomes.indexOf(a.outcome) - outcomes.indexOf(b.outcome)
  const operations = [...new Set([...ORDER, ...entries.map(({ operation }) => operation)])].filter((operation) =>
    entries.some((entry) => entry.operation === operation),
  )
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

/** `2/5` when two of five are like the worst, `5` when all are; empty for a single run. */
export function countIn(cell: MatrixCell): string {
  const [{ outcome, level }] = cell
  const alike = cell.filter((entry) => entry.outcome === outcome && entry.level === level).length
  return cell.length === 1 ? '' : alike === cell.length ? String(alike) : `${alike}/${cell.length}`
}
