import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { LEVELS, type Level } from '../oracle/outcome.ts'
import { CRASHES } from './crash/crash-points.ts'
import { type Hazard, type RequestPosition, TRIAL_OUTCOMES, type TrialOutcome } from './exploration.ts'
import { HAZARDS } from './plan/hazards.ts'
import { TWINS } from './twins/twin-points.ts'

/** All trials of one hazard at one operation. */
export interface Cell {
  /** The worst of the outcomes; `untried` when there is no result yet. */
  outcome: TrialOutcome | 'untried'
  /** Level of the worst; `none` when there is no result yet. */
  level: Level
  results: readonly Tried[]
  /** Number of trials, including those not tried. */
  trials: number
}

/** All hazards by place: a row for each hazard, a column for each operation. */
export interface Matrix {
  operations: readonly Operation[]
  rows: readonly MatrixRow[]
}

/** One hazard, at every operation. */
export interface MatrixRow {
  hazard: string
  title: string
  /** In the order of the operations; undefined where the hazard does not apply. */
  cells: readonly (Cell | undefined)[]
}

interface TriedStrike {
  position: Pick<RequestPosition, 'operation'>
  hazard: Pick<Hazard, 'id'>
}

/** Members of a trial that a matrix needs. */
interface TriedTrial {
  harms: readonly TriedStrike[]
}

/** Members of a result that a matrix needs. */
export interface Tried {
  trial: TriedTrial
  outcome: TrialOutcome
  level: Level
}

/** Input of a matrix. */
export interface MatrixSource {
  results: readonly Tried[]
  untried: { trials: readonly TriedTrial[] } | null
}

/** The matrix of single faults; trials of several faults are listed elsewhere and have no cell. */
export function matrixOf({ results, untried }: MatrixSource): Matrix {
  const tried = results.flatMap((result) => singleOf(result.trial).map((strike) => ({ strike, result })))
  const left = (untried?.trials ?? []).flatMap((trial) =>
    singleOf(trial).map((strike) => ({ strike, result: undefined })),
  )
  const all = [...tried, ...left]
  const operations = OPERATIONS.filter((operation) => all.some(({ strike }) => strike.position.operation === operation))
  const rows = [...CRASHES, ...TWINS, ...HAZARDS].flatMap(({ id, title }) => {
    const own = all.filter(({ strike }) => strike.hazard.id === id)
    if (own.length === 0) return []
    const at = (operation: Operation) => own.filter(({ strike }) => strike.position.operation === operation)
    return [{ hazard: id, title, cells: operations.map((operation) => cellOf(at(operation))) }]
  })
  return { operations, rows }
}

/** Counts the results of a cell that are like the worst: `2/5`, or `5` when all five are; empty for a single trial. */
export function countIn({ outcome, level, results, trials }: Cell): string {
  if (trials === 1) return ''
  const alike = results.filter((result) => result.outcome === outcome && result.level === level)
  const same = outcome === 'untried' ? trials : alike.length
  return same === trials ? String(trials) : `${same}/${trials}`
}

function singleOf({ harms }: TriedTrial): TriedStrike[] {
  const [strike, ...others] = harms
  return strike && others.length === 0 ? [strike] : []
}

function cellOf(entries: readonly { result: Tried | undefined }[]): Cell | undefined {
  if (entries.length === 0) return undefined
  const results = entries.flatMap(({ result }) => result ?? [])
  const [worst] = results.toSorted((a, b) => rankOf(a) - rankOf(b))
  return { outcome: worst?.outcome ?? 'untried', level: worst?.level ?? 'none', results, trials: entries.length }
}

/** Sorts by severity, then by the order of the outcomes. A fault that never struck comes after results that need review. */
function rankOf({ outcome, level }: Tried): number {
  const cost = outcome === 'not_exercised' ? LEVELS.indexOf('review') + 0.5 : LEVELS.indexOf(level)
  return cost * TRIAL_OUTCOMES.length + TRIAL_OUTCOMES.indexOf(outcome)
}
