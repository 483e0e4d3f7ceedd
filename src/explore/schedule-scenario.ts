import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/shorten.ts'
import type { Harm, Position } from './exploration.ts'
import { faultRules } from './fault-rules.ts'

/** Characters that a description may have. */
const MAX_DESCRIPTION = 1000

/** What a scenario says of itself. */
export interface ScheduleWords {
  /** Lowercase letters, digits and -. */
  name: string
  /** What became of the client and its money: sentences without a full stop. */
  came: readonly string[]
  /** The tool and the seed it was found with. */
  foundBy: string
}

/** A scenario of exactly these faults. */
export function scheduleScenario(harms: readonly Harm[], { name, came, foundBy }: ScheduleWords): Scenario {
  const description = `What goes wrong: ${harmsInWords(harms)}. What came of it: ${came.join('; ')}. Found by ${foundBy}.`
  const faults = faultRules(harms)
  // The later ones may strike what only a wrong client sends.
  const first = faults.slice(0, 1).map(({ kind }) => kind)
  return {
    name,
    description: shorten(description, MAX_DESCRIPTION),
    faults,
    clock: [],
    expect: { traffic: { faults: first } },
  }
}

/** "reset after broadcast at deposit 1 of alice, then 503 with Retry-After at list_pools 2" */
export function harmsInWords(harms: readonly Harm[]): string {
  return harms.map(({ position, hazard }) => `${hazard.title} at ${inWords(position)}`).join(', then ')
}

function inWords({ operation, tenant, external_id, end_user, ordinal }: Position): string {
  const user = end_user === null ? '' : ` of ${external_id ?? `end user ${end_user}`}`
  return `${operation} ${ordinal}${user}${tenant === null ? '' : ` (${tenant})`}`
}
