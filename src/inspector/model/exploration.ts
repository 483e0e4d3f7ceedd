import type { ExchangeLine } from '../../control/contract.ts'
import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import type { MatrixEntry } from './matrix.ts'

/** Money of one end user in one pool after a run, in minor units. */
export interface RunMoney {
  tenant: string
  external_id: string
  pool_id: string
  token_symbol: string
  token_decimals: number
  before_minor?: string
  expected_minor: string
  is_minor: string
}

/** A run. Files of earlier versions have neither exchanges nor money. */
export type ExploredRun = ExplorationDocument['results'][number] & { exchanges?: ExchangeLine[]; money?: RunMoney[] }

/** A fault at a place. */
export type PlannedHarm = ExploredRun['trial']['harms'][number]

/** Runs with one fault, those that were not tried included, for the matrix. */
export function matrixEntries({ results, untried }: ExplorationDocument): MatrixEntry[] {
  const entry = ({ id, harms }: ExploredRun['trial'], outcome: string, level: MatrixEntry['level']): MatrixEntry[] => {
    const [harm, ...others] = harms
    if (!harm || others.length > 0) return []
    return [{ id, operation: harm.position.operation, fault: harm.hazard.title, outcome, level }]
  }
  return [
    ...results.flatMap(({ trial, outcome, level }) => entry(trial, outcome, level)),
    ...(untried?.trials ?? []).flatMap((trial) => entry(trial, 'untried', 'none')),
  ]
}
