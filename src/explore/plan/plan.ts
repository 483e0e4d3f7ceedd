import type { FaultRule } from '../../control/contract.ts'
import type { Operation } from '../../domain/operations.ts'
import { SeededRandom } from '../../support/random.ts'
import { CRASHES, crashOf, isByChance, type KillPoint } from '../crash/crash-points.ts'
import type { PlannedStrike, RequestPosition, Trial } from '../exploration.ts'
import { TWINS, type TwinPoint, twinOf } from '../twins/twin-points.ts'
import { HAZARDS, type PlannedFault, type PlannedHazard, URGENCIES } from './hazards.ts'
import { type Place, positionName } from './positions.ts'

/** Every kill, twin and fault, in the order in which a matrix shows them. */
export const STRIKES: readonly PlannedHazard[] = [...CRASHES, ...TWINS, ...HAZARDS]

/** Selection of trials. */
export interface PlanWish {
  /** True to kill the command at every point; faults are planned then only if `kinds` names some. */
  crash?: boolean
  /** True for a plan of faults and of kills that are not by chance. */
  faults?: boolean
  /** True to run a second process beside the command at every write; faults are planned then only if `kinds` names some. */
  twins?: boolean
  /** Kinds of fault, or ids of hazards; empty for all. */
  kinds: readonly string[]
  /** Operations; empty for all. */
  operations: readonly Operation[]
}

/** A trial that is still to be run. */
export interface PlannedTrial extends Trial {
  harms: readonly { position: RequestPosition; hazard: PlannedHazard }[]
  /** True for faults combined at random: the trial is judged by those that struck. */
  drawn?: true
}

/** Plans one trial for every hazard at every place; those that can cost money first, those that wait last. */
export function planTrials(places: readonly Place[], wish: PlanWish): PlannedTrial[] {
  const hazards = hazardsFor(wish)
  const trials = placesAt(wish.operations, places).flatMap((place) =>
    hazards.filter((hazard) => hazard.fits(place)).map((hazard) => trialOf([{ position: place.position, hazard }])),
  )
  return byUrgency(trials)
}

/** The kills and faults that are wanted. */
export function hazardsFor(wish: PlanWish): PlannedHazard[] {
  return [
    ...CRASHES.filter(({ id }) => wantsCrash(wish, id)),
    ...TWINS.filter(({ id }) => wantsTwin(wish, id)),
    ...HAZARDS.filter((hazard) => isAmong(wish, hazard)),
  ]
}

/** The places at these operations; all places when no operation is given. */
export function placesAt(operations: PlanWish['operations'], places: readonly Place[]): readonly Place[] {
  return operations.length === 0 ? places : places.filter(({ position }) => operations.includes(position.operation))
}

/** @returns true if one of these words, kinds of fault or ids, selects the fault; without words, all but `onlyNamed` ones are selected */
function isAmong(
  { kinds, crash = false, twins = false, faults = !crash && !twins }: Omit<PlanWish, 'operations'>,
  fault: PlannedFault,
): boolean {
  const { id, rule, onlyNamed } = fault
  if (kinds.includes(id)) return true
  return onlyNamed === undefined && (kinds.length === 0 ? faults : kinds.includes(rule.kind))
}

/** @returns true if the crash is to be tried: with `--crash`, all of them unless words name some */
function wantsCrash({ kinds, crash = false, faults = false }: PlanWish, id: string): boolean {
  if (faults && isByChance({ id })) return false
  return kinds.includes(id) || (crash && !kinds.some((kind) => crashOf(kind)))
}

/** @returns true if the twin is to be tried: with `--twins`, all of them unless words name some */
function wantsTwin({ kinds, twins = false }: PlanWish, id: string): boolean {
  return kinds.includes(id) || (twins && !kinds.some((kind) => twinOf(kind)))
}

/** A trial with its name. */
export function trialOf<H extends PlannedStrike>(harms: readonly H[]): { id: string; harms: readonly H[] } {
  return { id: harms.map(({ position, hazard }) => `${positionName(position)} ${hazard.id}`).join(' + '), harms }
}

/** @returns true if a trial changes the market, which only its owner can do */
export function changesMarket({ harms }: PlannedTrial): boolean {
  return harms.some(({ hazard: { rule } }) => rule?.kind === 'pool_paused' || rule?.kind === 'illiquid_pool')
}

/** @returns true if the duration of a trial depends on how long the client waits */
export function waits({ harms }: PlannedTrial): boolean {
  return harms.some(({ hazard }) => hazard.urgency === 'wait')
}

/** Milliseconds of real time after which the faults of a trial are removed once they have struck; 0 for never. */
export function heldFor({ harms }: PlannedTrial): number {
  return Math.max(0, ...harms.map(({ hazard }) => hazard.holds ?? 0))
}

/** The public part of a trial: without urgency and places. */
export function withoutPlan({ id, harms }: PlannedTrial): Trial {
  const told = harms.map(({ position, hazard: { id: hazard, title, rule } }) => {
    return { position, hazard: { id: hazard, title, rule } }
  })
  return { id, harms: told }
}

/** Sorts trials: those that can cost money first, those that wait last. */
export function byUrgency(trials: readonly PlannedTrial[]): PlannedTrial[] {
  const rank = ({ harms }: PlannedTrial) => {
    const latest = Math.max(...harms.map(({ hazard }) => URGENCIES.indexOf(hazard.urgency)))
    return URGENCIES[latest] === 'wait' ? Number.POSITIVE_INFINITY : latest + harms.length * URGENCIES.length
  }
  return [...trials].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
}

/** Returns rules that strike so, each exactly one request; none for a crash or a twin. */
export function faultRules(harms: readonly PlannedStrike[]): FaultRule[] {
  return harms.flatMap(({ position, hazard: { rule } }) =>
    rule === null ? [] : [{ ...rule, match: matchOf(position) } as FaultRule],
  )
}

/** A rule as text for `--fault`: `drop_connection; phase=after_broadcast; how=reset; operation=deposit; external_id=alice; ordinal=2`. */
export function faultText({ kind, phase, match = {}, with: parameters = {} }: FaultRule): string {
  const words = { phase, ...parameters, ...match }
  const written = Object.entries(words).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(String(value))}`],
  )
  return [kind, ...written].join('; ')
}

/** The kills of a trial, in order. */
export function killsOf(harms: readonly PlannedStrike[]): { position: RequestPosition; point: KillPoint }[] {
  return harms.flatMap(({ position, hazard }) => {
    const crash = crashOf(hazard.id)
    return crash ? [{ position, point: crash.kill }] : []
  })
}

/** Where the command meets a second process of the same. */
export interface Meeting {
  position: RequestPosition
  point: TwinPoint
}

/** Where a second process is to be started; undefined for a trial without one. */
export function meetingOf(harms: readonly PlannedStrike[]): Meeting | undefined {
  const [meeting] = harms.flatMap(({ position, hazard }) => {
    const twin = twinOf(hazard.id)
    return twin ? [{ position, point: twin.twin }] : []
  })
  return meeting
}

/** The match of a rule that strikes the request at this position. */
export function matchOf({ operation, tenant, external_id, end_user, ordinal }: RequestPosition) {
  const user = external_id !== null ? { external_id } : end_user !== null ? { end_user } : {}
  return { operation, ...(tenant !== null && { tenant }), ...user, ordinal }
}

function quoted(value: string): string {
  return /[;"\s]/.test(value) ? `"${value}"` : value
}

/** Kinds of fault that explore does not try, and the reasons. Every kind is either here or among the hazards. */
export const UNTRIED: Readonly<Record<string, string>> = {
  apy_change: 'business time stands still in every run, so that no yield is ever earned',
  deprecation: 'it adds headers to good answers, which change nothing for a client that does not read them',
  slow_confirmation: 'business time stands still in every run, so that it is the same as stuck, which is tried',
}

/** One sentence: faults that are never tried, and those that are tried only if they are named. */
export function untriedInWords(): string {
  const named = HAZARDS.flatMap(({ id, onlyNamed }) => (onlyNamed === undefined ? [] : `${id} (${onlyNamed})`))
  const never = Object.entries(UNTRIED).map(([kind, reason]) => `${kind} (${reason})`)
  return `not among the faults: ${never.join(', ')}; only where --faults names them: ${named.join(', ')}`
}

/** Minimum and maximum number of faults of one schedule. */
const FEWEST = 2
const MOST = 5
/** In one of so many, the request after a struck one, a retry most likely, is struck as well. */
const RETRIED_ONE_IN = 4
/** Draws for each wanted schedule: with few places, most draws repeat an earlier schedule. */
const ATTEMPTS = 20

/** Selection of schedules. */
export interface RandomWish extends Pick<PlanWish, 'kinds' | 'operations'> {
  /** Number of schedules; fewer when there are not so many different ones. */
  count: number
  /** The same seed gives the same schedules. */
  seed: number
}

/**
 * Random schedules of several faults at once: they find failures that no single fault causes. Faults that make a client wait in real
 * time are included only if their kinds are given.
 */
export function randomTrials(places: readonly Place[], { count, seed, kinds, operations }: RandomWish): PlannedTrial[] {
  const hazards = HAZARDS.filter(
    (hazard) => isAmong({ kinds }, hazard) && (kinds.length > 0 || hazard.urgency !== 'wait'),
  )
  const sites = placesAt(operations, places).map((place) => {
    return { place, fitting: hazards.filter((hazard) => hazard.fits(place)) }
  })
  const random = new SeededRandom(seed)
  const draw = (below: number) => Math.floor(random.next('explore/random') * below)
  const drawn = new Map<string, PlannedTrial>()
  for (let attempt = 0; attempt < count * ATTEMPTS && drawn.size < count; attempt++) {
    const harms = drawStrikes(sites, draw)
    const { id } = trialOf(harms)
    if (harms.length < FEWEST || drawn.has(id)) continue
    drawn.set(id, { id: `random-${drawn.size + 1} of seed ${seed}: ${id}`, harms, drawn: true })
  }
  return [...drawn.values()]
}

interface Site {
  place: Place
  fitting: PlannedTrial['harms'][number]['hazard'][]
}

/** In the order of the places. One request is struck by one fault: no place comes twice. */
function drawStrikes(sites: readonly Site[], draw: (below: number) => number): PlannedTrial['harms'] {
  const wanted = FEWEST + draw(MOST - FEWEST + 1)
  const harms = new Map<string, { at: number; strike: PlannedTrial['harms'][number] }>()
  const left = [...sites.entries()]
  while (harms.size < wanted) {
    const [next] = left.splice(draw(left.length), 1)
    if (!next) break
    const [at, site] = next
    const { position } = site.place
    const retried = draw(RETRIED_ONE_IN) === 0 && harms.size + 1 < wanted
    const positions = retried ? [position, { ...position, ordinal: position.ordinal + 1 }] : [position]
    for (const one of positions) {
      const hazard = site.fitting[draw(site.fitting.length)]
      if (hazard && !harms.has(positionName(one)))
        harms.set(positionName(one), { at, strike: { position: one, hazard } })
    }
  }
  // A retry comes after what it repeats as it is.
  return [...harms.values()].sort((a, b) => a.at - b.at).map(({ strike }) => strike)
}
