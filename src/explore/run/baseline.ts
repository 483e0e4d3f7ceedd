import { judgeOperations } from '../../oracle/judge-operations.ts'
import { siblingOf } from '../../oracle/sibling.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { compareMoney, endUsersOf, ownedMoney } from '../judge/compare-money.ts'
import type { TrialExpectation } from '../judge/judge-trial.ts'
import type { AskedAnyway } from '../plan/pairs.ts'
import { type Place, placesOf, positionName } from '../plan/positions.ts'
import type { Observation } from './exploration-sandbox.ts'

/** Common facts of the runs without faults. */
export interface Baseline extends TrialExpectation, AskedAnyway {
  /** The first difference between the runs, in words; undefined for none. */
  difference: string | undefined
  /** Number of Idempotency-Keys that both runs used. */
  shared: number
}

/** Compares two runs without faults. */
export function compareBaselines(first: Observation, second: Observation): Baseline {
  const runs = [first, second]
  const [names, others] = [endUsersOf(first.evidence.exchanges), endUsersOf(second.evidence.exchanges)]
  const stable = new Set([...names].filter((name) => others.has(name)))
  const [before, after] = [placesOf(exchangesOf(first), stable), placesOf(exchangesOf(second), stable)]
  const money = runs.map((run) => ownedMoney(run.money, run.evidence.exchanges, stable))
  const [wanted, came] = money
  const moved = wanted && came ? compareMoney(wanted, came)[0] : undefined
  const known = new Set(after.map(({ position }) => positionName(position)))
  const evidence = runs.map((run) => run.evidence)
  const sibling = siblingOf(evidence, { names: stable, amounts: moved === undefined })
  return {
    money,
    stable,
    sibling,
    again: second.again,
    usual: judgeOperations(second.evidence, { sibling }),
    shared: [...keysOf(first)].filter((key) => keysOf(second).has(key)).length,
    places: before.filter(({ position }) => known.has(positionName(position))),
    difference: moved ?? differenceOf(before, after),
  }
}

/** The exchanges of the command: not those of another one that was started after it. */
function exchangesOf({ evidence: { exchanges }, restarted = Number.POSITIVE_INFINITY }: Observation) {
  return exchanges.filter(({ number }) => number <= restarted)
}

/** Every Idempotency-Key of a run. */
function keysOf({ evidence: { exchanges } }: Observation): Set<string> {
  return new Set(exchanges.flatMap(({ idempotency }) => idempotency?.key.toLowerCase() ?? []))
}

/** The first exchange that only one of two runs has, or that has different answers. */
function differenceOf(first: readonly Place[], second: readonly Place[]): string | undefined {
  const [before, after] = [first, second].map(
    (places) => new Map(places.map((place) => [positionName(place.position), place.answer])),
  )
  if (!before || !after) return undefined
  for (const [name, answer] of before) {
    const other = after.get(name)
    if (other === undefined) return `${name} is in the first run only`
    if (other !== answer) return `${name} was answered ${answer} in the first run and ${other} in the second`
  }
  const more = [...after.keys()].find((name) => !before.has(name))
  return more === undefined ? undefined : `${more} is in the second run only`
}

/** @returns true if the service got no request at all */
export function askedNothing(exchanges: readonly RecordedExchange[]): boolean {
  return exchanges.every(({ operation }) => operation === null)
}
