import type { OutcomeId } from '../../../src/oracle/outcome.ts'
import type { HazardName, PlaceName } from './situations.ts'

/**
 * What becomes of a client's operations in one situation, and the exit code of `exec`.
 * - `told`: of the operation that is struck; the others are as in a run where nothing goes wrong.
 * - `untold told`: of the one that is struck, and of what the client sends because of it.
 * - `untold .`: the client stops there: what comes before is told, and nothing comes after.
 * - `= untold told`: of all operations of the run.
 * - `untold; 3`: the exit code, where the outcomes alone would come to another one: a broken rule, a scenario that did not come about.
 * - `-`: not tried, since it is chance.
 */
export type Cell = string

/** One client, and what the judge must say of it. */
export interface Row {
  name: string
  /** The worker of clients/behaviours.mjs; its name if left out. */
  worker?: string
  /** The file of clients/libraries, instead of a worker. */
  library?: string
  /** The command, from the folder of clients, instead of a worker. */
  program?: readonly [command: string, ...args: string[]]
  /** How often it is started at most, while it has open orders. */
  starts?: number
  right: boolean
  /** It takes seconds of a processor: `npm test` leaves it out. */
  heavy?: true
  /** False where it is a suite that keeps none. */
  books?: false
  /** What it does that matters, one sentence. */
  does: string
  /** Of a run where nothing goes wrong. Three are told unless this says otherwise. */
  quiet?: Cell
  /** Where something can go wrong. All places unless this says otherwise. */
  places?: readonly PlaceName[]
  /** Only what is named here is tried, of what can go wrong. */
  only?: readonly HazardName[]
  /** May or may not be said beside: it depends on the connections that its HTTP library takes, and on how quick the machine is. */
  perhaps?: readonly OutcomeId[]
  /** Of hazards, groups of them, or hazards and groups at a place; the nearest counts. What is left out is that of a right client. */
  cells?: Partial<Record<HazardName | 'lost' | 'never' | `${HazardName | 'lost' | 'never'} @ ${PlaceName}`, Cell>>
  /** Of scenarios; what is left out is that of the hazard that the scenario is made of, or of a run where nothing goes wrong. */
  scenarios?: Partial<Record<string, Cell>>
  /** Of a wrong client: what finds it, in words, or why nothing does. Of a right one that is not passed: why not. */
  found?: string
}

/** What a cell comes to. */
export interface Expected {
  /** In alphabetical order. */
  outcomes: OutcomeId[]
  /** Undefined: what the outcomes come to. */
  code: number | undefined
}
