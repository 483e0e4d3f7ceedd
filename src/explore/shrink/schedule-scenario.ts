import { stringify } from 'yaml'
import { prepareFiles, writeOwn, writing } from '../../exec/report-files.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import { shorten } from '../../support/foreign-text.ts'
import type { PlannedStrike, RequestPosition } from '../exploration.ts'
import { faultRules } from '../plan/plan.ts'
import type { Shrunk } from './shrink.ts'

/** Maximum number of characters of a description. */
const MAX_DESCRIPTION = 1000
/** Maximum number of faults of a scenario. */
export const MAX_FAULTS = 100

/** Texts of a scenario. */
export interface ScheduleWords {
  /** Lowercase letters, digits and -. */
  name: string
  /** Results for the client and its money: sentences without a full stop. */
  came: readonly string[]
  /** The tool and the seed that found the schedule. */
  foundBy: string
}

/** A scenario of exactly these faults. */
export function scheduleScenario(strikes: readonly PlannedStrike[], { name, came, foundBy }: ScheduleWords): Scenario {
  const description = `What goes wrong: ${strikesInWords(strikes)}. What came of it: ${came.join('; ')}. Found by ${foundBy}.`
  const faults = faultRules(strikes)
  // The later ones may strike what only a wrong client sends.
  const first = faults.slice(0, 1).map(({ kind }) => kind)
  const expect = first.length > 0 ? { traffic: { faults: first } } : {}
  return {
    name,
    description: shorten(description, MAX_DESCRIPTION),
    faults,
    clock: [],
    expect,
  }
}

/** "2 of the 4 faults are enough: reset after broadcast at deposit 1 of alice, then …": what is left of so many. */
export function enoughInWords({ items, minimal }: Shrunk<PlannedStrike>, all: number): string {
  const few = items.length
  const enough =
    few === all
      ? `${all === 1 ? 'the fault is' : `all of the ${all} faults are`} needed`
      : `${few} of the ${all} faults ${few === 1 ? 'is' : 'are'} enough`
  return `${minimal ? enough : `${enough}, fewer may be`}: ${strikesInWords(items)}`
}

/** "reset after broadcast at deposit 1 of alice, then 503 with Retry-After at list_pools 2" */
function strikesInWords(strikes: readonly PlannedStrike[]): string {
  return strikes.map(({ position, hazard }) => `${hazard.title} at ${positionInWords(position)}`).join(', then ')
}

function positionInWords({ operation, tenant, external_id, end_user, ordinal }: RequestPosition): string {
  const user = end_user === null ? '' : ` of ${external_id ?? `end user ${end_user}`}`
  return `${operation} ${ordinal}${user}${tenant === null ? '' : ` (${tenant})`}`
}

/** Writes a scenario's file, and makes its folder. Resolves to the path for `--scenario`. Throws OptionError naming the flag. */
export async function saveScenario(path: string, scenario: Scenario, flag: string): Promise<string> {
  await prepareFiles([{ path }], flag)
  await writing(path, () => writeOwn(path, scenarioText(scenario)), flag)
  return path
}

/** A scenario as YAML that the loader can read. Empty parts are left out. */
function scenarioText({ name, description, faults, clock, expect }: Scenario): string {
  return stringify(
    {
      name,
      description,
      ...(faults.length > 0 && { faults }),
      ...(clock.length > 0 && { clock }),
      ...(Object.keys(expect).length > 0 && { expect }),
    },
    { lineWidth: 120, aliasDuplicateObjects: false },
  )
}
