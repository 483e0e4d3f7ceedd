import { OptionError } from '../../option-error.ts'
import { shellWords, shorten } from '../../support/foreign-text.ts'
import { suggest } from '../../support/nearest.ts'
import type { Exploration } from '../exploration.ts'
import { twinOf } from '../twins/twin-points.ts'
import type { PlannedHazard } from './hazards.ts'

import { type PlannedTrial, STRIKES } from './plan.ts'
import { type Place, positionName } from './positions.ts'

/** The beginning of the id of a random schedule. */
const DRAWN = /^random-\d+ of seed \d+: /

/** Ids of hazards, the longest first: one may end in another. */
const NAMES = STRIKES.map(({ id }) => id).sort((a, b) => b.length - a.length)
/** A strike as an id names it. Names of end users may contain any character. */
const STRIKE = new RegExp(`^(.+?) (${NAMES.join('|')})(?: \\+ |$)`, 's')

/**
 * The trial that an id names, as it was printed: of one strike, of several, drawn by chance or what is left of such a one. Throws OptionError
 * for one that makes no sense at these places, with the nearest that does.
 */
export function findTrial(id: string, places: readonly Place[]): PlannedTrial {
  const [prefix = ''] = DRAWN.exec(id) ?? []
  const harms: PlannedTrial['harms'][number][] = []
  for (let rest = id.slice(prefix.length); rest !== ''; ) {
    const [text = '', place = '', hazard = ''] = STRIKE.exec(rest) ?? unreadable(id, rest)
    harms.push(strikeOf(id, place, hazard, places))
    rest = rest.slice(text.length)
  }
  if (harms.length === 0) throw unknown(id, 'it names no fault')
  if (harms.length > 1 && harms.some(({ hazard }) => twinOf(hazard.id)))
    throw unknown(id, 'a second process goes with no other harm: name it alone')
  return { id, harms, ...(prefix !== '' && { drawn: true }) }
}

function strikeOf(id: string, name: string, hazardId: string, places: readonly Place[]): PlannedTrial['harms'][number] {
  const hazard = STRIKES.find((one) => one.id === hazardId)
  if (!hazard) throw unknown(id, `"${hazardId}" is no fault`)
  // A retry has an ordinal that the command without faults never reaches.
  const ordinal = Number(/^\w+#(\d+)/.exec(name)?.[1])
  const alike = places.filter(({ position }) => positionName({ ...position, ordinal }) === name)
  const [place] = alike
  if (!place || !(ordinal > 0)) {
    const names = places.map(({ position }) => positionName(position))
    throw unknown(id, `no request of the command comes to "${shorten(name)}"; ${suggest(name, names)}`)
  }
  if (!alike.some((one) => hazard.fits(one)))
    throw unknown(id, `${hazardId} makes no sense there; ${suggest(hazardId, fitting(place))}`)
  return { position: { ...place.position, ordinal }, hazard }
}

function fitting(place: Place): string[] {
  return STRIKES.filter((hazard: PlannedHazard) => hazard.fits(place)).map(({ id }) => id)
}

function unreadable(id: string, rest: string): never {
  const [part = ''] = rest.split(' + ')
  const word = part.slice(part.lastIndexOf(' ') + 1)
  const known = (word.startsWith('killed') ? STRIKES.filter(({ rule }) => rule === null) : STRIKES).map((one) => one.id)
  throw unknown(id, `"${shorten(word)}" is no fault; ${suggest(word, known)}`)
}

function unknown(id: string, why: string): OptionError {
  return new OptionError(`--trial "${shorten(id, 200)}": ${why}`)
}

/** Terms that give the same run, except the trial. */
export type SameTerms = Pick<Exploration, 'command' | 'seed' | 'clock'> & {
  /** Flags of `explore` that give the same sandbox and the same environment: `--fixtures`, `--env`, `--before`, … */
  flags: readonly string[]
}

/** A command line of POSIX's shell that runs a trial again, with the same seed and clock. */
export function repeatCommand(trialId: string, { command, seed, clock, flags }: SameTerms): string {
  const same = ['--seed', String(seed), '--clock', clock, ...flags]
  return shellWords(['yield-sandbox', 'explore', '--trial', trialId, ...same, '--', ...command])
}
