import { type Level, OUTCOMES, type OutcomeId } from '../../../src/oracle/outcome.ts'
import type { Cell, Expected, Row } from './row.ts'
import { SCENARIOS, type ScenarioRow, scenariosOf } from './scenarios.ts'
import {
  HAZARD_NAMES,
  HAZARDS,
  type Hazard,
  type HazardName,
  PLACE_NAMES,
  type PlaceName,
  type Situation,
  type Struck,
} from './situations.ts'

/** What a right client makes of each: it comes again under the same key until it is told. */
const USUAL: Partial<Record<HazardName, Cell>> = {
  revert: 'refused',
  misled: 'misled',
  'denied-twice': '= put_off told told',
}

const DEFAULT_QUIET = '= told told told'

/** What can go wrong with a client's orders; what is chance is left out. */
function struckOf(row: Row): Struck[] {
  return HAZARD_NAMES.flatMap((hazard) => {
    const { long, special }: Hazard = HAZARDS[hazard]
    if (row.only ? !row.only.includes(hazard) : special) return []
    const places = (row.places ?? PLACE_NAMES).filter((place) => !long || place === 'deposit 1')
    return places.map((place) => ({ hazard, place })).filter((struck) => cellOf(row, struck) !== '-')
  })
}

/** All that a client is tried in. */
export function situationsOf(row: Row): Situation[] {
  const scenarios = scenariosOf(row).filter((scenario) => scenarioCellOf(row, scenario) !== '-')
  const quiet: Situation[] = row.quiet === '-' ? [] : ['quiet']
  return [...quiet, ...struckOf(row), ...scenarios.map((scenario) => ({ scenario }))]
}

/** What a client comes to in a situation. */
export function expectedOf(row: Row, situation: Situation): Expected {
  if (situation === 'quiet') return read(row.quiet ?? DEFAULT_QUIET, row, undefined)
  if ('hazard' in situation) return read(cellOf(row, situation), row, situation.place)
  const own = row.scenarios?.[situation.scenario]
  const { is, code } = scenarioRow(situation.scenario)
  if (own !== undefined) return read(own, row, is === 'quiet' ? undefined : is.place)
  const expected = expectedOf(row, is)
  return code === undefined || expected.code !== undefined
    ? expected
    : { ...expected, code: codeOf(expected.outcomes) || code }
}

/** @returns true for a right client that comes to no failure in anything that the table has: nor may it where chance decides */
export function isSteadfast(row: Row): boolean {
  if (!row.right || row.only) return false
  const codes = situationsOf(row).map((situation) => {
    const { outcomes, code } = expectedOf(row, situation)
    return code ?? codeOf(outcomes)
  })
  return codes.every((code) => code === 0 || code === 4)
}

function scenarioRow(name: string): ScenarioRow {
  const row = SCENARIOS[name]
  if (!row) throw new Error(`there is no scenario ${name}`)
  return row
}

function scenarioCellOf(row: Row, scenario: string): Cell | undefined {
  const { is } = scenarioRow(scenario)
  return row.scenarios?.[scenario] ?? (is === 'quiet' ? undefined : cellOf(row, is))
}

function cellOf({ cells = {} }: Row, { hazard, place }: Struck): Cell {
  const { group }: Hazard = HAZARDS[hazard]
  const near = cells[`${hazard} @ ${place}`] ?? cells[hazard]
  const wide = group && (cells[`${group} @ ${place}`] ?? cells[group])
  return near ?? wide ?? USUAL[hazard] ?? 'told'
}

/** Reads a cell: see {@link Cell}. */
function read(cell: Cell, row: Row, place: PlaceName | undefined): Expected {
  const [text = '', code] = cell.split(';')
  const words = text.trim().split(' ').filter(Boolean)
  const outcomes = all(words, row, place).map(idOf).sort()
  // A rule that is broken, or to be looked at, where nothing goes wrong is so elsewhere.
  const usual = row.quiet?.split(';')[1]
  const own = code ?? (codeOf(outcomes) === 0 ? usual : undefined)
  return { outcomes, code: own === undefined ? undefined : Number(own) }
}

function all(words: readonly string[], row: Row, place: PlaceName | undefined): readonly string[] {
  if (words[0] === '=') return words.slice(1)
  const quiet = all((row.quiet ?? DEFAULT_QUIET).split(';')[0]?.trim().split(' ').filter(Boolean) ?? [], row, undefined)
  if (words.at(-1) === '.') {
    const before = (row.places ?? PLACE_NAMES).indexOf(place ?? 'deposit 1')
    return [...quiet.slice(0, before), ...words.slice(0, -1)]
  }
  return [...quiet.slice(1), ...words]
}

function idOf(word: string): OutcomeId {
  if (!Object.hasOwn(OUTCOMES, word)) throw new Error(`"${word}" is no outcome`)
  return word as OutcomeId
}

/** In `exec`, an operation that was given up is to be looked at: no other run shows what the client does when the money moved. */
const IN_EXEC: Partial<Record<OutcomeId, Level>> = { gave_up: 'review' }

const CODES: Partial<Record<Level, number>> = { critical: 3, serious: 3, inconclusive: 4, review: 4 }

/** What outcomes come to as an exit code, where the client itself ends with 0 and breaks no rule. */
export function codeOf(outcomes: readonly OutcomeId[]): number {
  const codes = outcomes.map((outcome) => CODES[IN_EXEC[outcome] ?? OUTCOMES[outcome].level] ?? 0)
  return codes.includes(3) ? 3 : Math.max(0, ...codes)
}
