import { stringify } from 'yaml'
import { prepareFiles, writeOwn, writing } from '../../exec/report-files.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import { shorten } from '../../support/foreign-text.ts'
import type { PlannedStrike, RequestPosition } from '../exploration.ts'
import { faultRules } from '../plan/plan.ts'

/** The rest of a list after shrinking. */
export interface Shrunk<Item> {
  /** Needed items, in their order; at least one. */
  items: readonly Item[]
  /** Number of attempts. */
  runs: number
  /** True if every item is needed; false when the attempts were used up before that was known. */
  minimal: boolean
}

/** Options of the shrinking. */
export interface ShrinkWish<Item> {
  fails(items: readonly Item[]): Promise<boolean>
  /** Maximum number of attempts. */
  maxRuns: number
  /** Describes the rest as it stands after `without` was left out. Undefined when nothing moves. */
  moved?(left: readonly Item[], without: readonly Item[]): readonly Item[] | undefined
}

/**
 * Removes items that are not needed for the failure from a failing list: large parts first, single items at the end. Nothing is tried
 * twice. Delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
 */
export async function shrink<Item>(items: readonly Item[], wish: ShrinkWish<Item>): Promise<Shrunk<Item>> {
  const { fails, maxRuns, moved } = wish
  const passed = new Set<string>()
  let left = items
  let runs = 0
  /** The first of these that fails; `undefined` for none, `stopped` when the attempts were used up before. */
  const failingOf = async (parts: readonly (readonly Item[])[]) => {
    for (const part of parts) {
      const name = JSON.stringify(part)
      // A failing part becomes the rest, and is never asked for again.
      if (passed.has(name)) continue
      if (runs >= maxRuns) return 'stopped'
      runs++
      if (await fails(part)) return part
      passed.add(name)
    }
    return undefined
  }
  for (let size = Math.ceil(left.length / 2); left.length > 1; size = Math.ceil(size / 2)) {
    const before = left.length
    for (let from = 0; from < left.length && left.length > 1; ) {
      const without = left.slice(from, from + size)
      const rest = left.filter((_, i) => i < from || i >= from + size)
      const found = await failingOf([rest, moved?.(rest, without) ?? []].filter(isSome))
      if (found === 'stopped') return { items: left, runs, minimal: false }
      if (found) left = found
      else from += size
    }
    // An item that was needed at first may not be once another one is gone: repeats until nothing changes.
    if (size === 1 && left.length === before) break
  }
  return { items: left, runs, minimal: true }
}

function isSome(list: readonly unknown[]): boolean {
  return list.length > 0
}

/**
 * Moves the strikes that are left when others are left out: a client that is not struck does not repeat its request, so each later
 * request of that operation and end user comes one earlier. Undefined when no strike moves.
 */
export function movedStrikes<H extends PlannedStrike>(
  left: readonly H[],
  without: readonly PlannedStrike[],
): readonly H[] | undefined {
  const moved = left.map((strike) => {
    const { position } = strike
    const earlier = without.filter((other) => comesBefore(other.position, position)).length
    return earlier === 0 ? strike : { ...strike, position: { ...position, ordinal: position.ordinal - earlier } }
  })
  return moved.some((strike, i) => strike !== left[i]) ? moved : undefined
}

function comesBefore(one: RequestPosition, other: RequestPosition): boolean {
  const of = ({ operation, tenant, external_id, end_user }: RequestPosition) =>
    JSON.stringify([operation, tenant, external_id, end_user])
  return of(one) === of(other) && one.ordinal < other.ordinal
}

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
