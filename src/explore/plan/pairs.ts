import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { isByChance } from '../crash/crash-points.ts'
import type { PlannedStrike, ReachedPlace, RequestPosition, TrialResult } from '../exploration.ts'
import type { Observation } from '../run/exploration-sandbox.ts'
import { twinOf } from '../twins/twin-points.ts'
import { byUrgency, hazardsFor, killsOf, type PlannedTrial, type PlanWish, placesAt, trialOf } from './plan.ts'
import { type Place, placesOf, positionName } from './positions.ts'

/** Runs without faults, as far as they say what a command asks anyway. */
export interface AskedAnyway {
  /** Names of end users that are the same in every run. */
  stable: ReadonlySet<string>
  places: readonly Place[]
  /** The exchanges of the command when it is started once more after everything is done; empty where it never is. */
  again: readonly RecordedExchange[]
}

/**
 * Requests after the strike of a trial that the command asked because of it: after a fault those that it asks more of than without, after a
 * kill all of the restarted command, unless it asked nothing else than usual. A second strike elsewhere would meet the
 * same command as a single one.
 */
export function furtherPlaces(
  [strike, ...others]: readonly PlannedStrike[],
  { evidence: { exchanges }, crash }: Observation,
  anyway: AskedAnyway,
): ReachedPlace[] {
  if (!strike || others.length > 0 || !isPaired(strike.hazard)) return []
  const places = placesOf(exchanges, anyway.stable)
  const further = crash
    ? recoveryAt(
        places,
        exchanges.filter(({ number }) => number > crash.killedAt),
        anyway,
      )
    : moreThan(anyway.places, places, strike.position)
  return further.map(({ position, transferred, has_cursor }) => ({ position, transferred, has_cursor }))
}

/**
 * The places of the last exchanges, which are those of the restarted command. None if it asked the same as when there is nothing left to do,
 * or the same as the whole command: then it met the same as after a single kill.
 */
function recoveryAt(
  places: readonly Place[],
  recovery: readonly RecordedExchange[],
  { stable, places: unharmed, again }: AskedAnyway,
): Place[] {
  const asked = placesOf(recovery, stable)
  const isUsual = [unharmed, placesOf(again, stable)].some((usual) => isAlike(countsOf(asked), countsOf(usual)))
  return isUsual ? [] : places.slice(-asked.length)
}

function isAlike(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([name, count]) => other.get(name) === count)
}

/** After the struck request: of each kind of request so many of the first ones as came more than without the fault. */
function moreThan(usual: readonly Place[], came: readonly Place[], struck: RequestPosition): Place[] {
  const [expected, counts] = [countsOf(usual), countsOf(came)]
  const at = came.findIndex(({ position }) => positionName(position) === positionName(struck))
  const left = new Map([...counts].map(([name, count]) => [name, count - (expected.get(name) ?? 0)]))
  return came.slice(at + 1).filter(({ position }) => {
    const name = kindOf(position)
    const more = left.get(name) ?? 0
    left.set(name, more - 1)
    return more > 0
  })
}

function countsOf(places: readonly Place[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { position } of places) counts.set(kindOf(position), (counts.get(kindOf(position)) ?? 0) + 1)
  return counts
}

/** Name of all requests of one operation and end user. */
function kindOf(position: RequestPosition): string {
  return positionName({ ...position, ordinal: 0 })
}

/** @returns false for a strike that goes with no other: a kill by chance, which another run does not repeat, and a second process */
function isPaired({ id }: { id: string }): boolean {
  return !isByChance({ id }) && twinOf(id) === undefined
}

/** Trials with a second strike, of the same sort as the first, at every request that the first has led to. */
export function planPairs(results: readonly TrialResult[], wish: PlanWish): PlannedTrial[] {
  const hazards = hazardsFor(wish).filter((hazard) => hazard.urgency !== 'wait' && isPaired(hazard))
  const pairs = results.flatMap(({ trial: { harms }, further = [] }) => {
    const isKill = killsOf(harms).length > 0
    const [first] = harms
    const hazard = hazardsFor(wish).find(({ id }) => id === first?.hazard.id)
    if (!first || !hazard || hazard.urgency === 'wait') return []
    return further.flatMap((place) =>
      hazards
        .filter((second) => (second.rule === null) === isKill && second.fits({ ...place, answer: '' }))
        .map((second) =>
          trialOf([
            { position: first.position, hazard },
            { position: place.position, hazard: second },
          ]),
        ),
    )
  })
  return byUrgency(pairs)
}

/** Number of pairs without guidance: a fault with each at the same request, which may come again, or a later one; a kill with any kill. */
export function countPairs(places: readonly Place[], wish: PlanWish): number {
  const hazards = hazardsFor(wish).filter((hazard) => hazard.urgency !== 'wait' && isPaired(hazard))
  const fitting = placesAt(wish.operations, places).map((place) => hazards.filter((hazard) => hazard.fits(place)))
  const kills = fitting.map((fits) => fits.filter(({ rule }) => rule === null).length)
  const faults = fitting.map((fits) => fits.filter(({ rule }) => rule !== null).length)
  return sum(kills) ** 2 + sum(faults.map((count, i) => count * sum(faults.slice(i))))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
