import { SeededRandom } from '../../support/random.ts'
import { HAZARDS } from './hazards.ts'
import { isAmong, type PlannedTrial, type PlanWish, placesAt, trialOf } from './plan.ts'
import { type Place, positionName } from './positions.ts'

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
  const hazards = HAZARDS.filter((hazard) => isAmong(kinds, hazard) && (kinds.length > 0 || hazard.urgency !== 'wait'))
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
