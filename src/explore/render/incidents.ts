import { grouped } from '../../support/maps.ts'
import {
  type Explanation,
  type Exploration,
  TRIAL_OUTCOMES,
  type Trial,
  type TrialOutcome,
  type TrialResult,
} from '../exploration.ts'
import { positionName } from '../plan/positions.ts'

/** The same result at one place or several. */
export interface Incident {
  outcome: TrialOutcome
  first: TrialResult
  /** Other trials with the same result. */
  others: TrialResult[]
}

/** Groups the wanted results, the worst first; the same result at the same operation makes one incident. */
export function incidentsOf(
  { results }: Pick<Exploration, 'results'>,
  isWanted: (result: TrialResult) => boolean,
): Incident[] {
  const shown = results.filter(isWanted)
  const incidents = [...grouped(shown, meaningOf).values()].flatMap(([first, ...others]) => {
    return first ? [{ outcome: first.outcome, first, others }] : []
  })
  const rank = ({ outcome }: Incident) => TRIAL_OUTCOMES.indexOf(outcome)
  return incidents.sort((a, b) => rank(a) - rank(b))
}

/** Explains an incident: findings of any of its runs, each once; those of the first run come first. */
export function explanationsOf({ first, others }: Incident): Explanation[] {
  const explanations = new Map<string, Explanation>()
  for (const finding of [first, ...others].flatMap(({ findings }) => findings)) {
    if (!explanations.has(finding.id)) explanations.set(finding.id, finding)
  }
  return [...explanations.values()]
}

/** "after close before broadcast, reverted; and at 4 other places"; undefined when nothing else is alike. */
export function alikeInWords({ first, others }: Incident): string | undefined {
  if (others.length === 0) return undefined
  const own = hazardsOf(first.trial)
  const hazards = new Set(others.map(({ trial }) => hazardsOf(trial)).filter((title) => title !== own))
  const places = new Set(
    others.map(({ trial }) => placeName(trial)).filter((place) => place !== placeName(first.trial)),
  )
  const after = hazards.size > 0 ? [`after ${[...hazards].join(', ')}`] : []
  const at = places.size > 0 ? [`at ${places.size} other ${places.size === 1 ? 'place' : 'places'}`] : []
  return [...after, ...at].join('; and ')
}

/** "reset before broadcast", "reset before broadcast, then 503 with Retry-After" */
function hazardsOf({ harms }: Trial): string {
  return harms.map(({ hazard }) => hazard.title).join(', then ')
}

function placeName({ harms }: Trial): string {
  return harms.map(({ position }) => positionName(position)).join(' + ')
}

/** Key of an incident: owner and amount of the money make no difference. */
function meaningOf({ outcome, trial, smallest, sentences, findings }: TrialResult): string {
  const { harms } = smallest ?? trial
  const operations = harms.map(({ position }) => position.operation)
  return JSON.stringify([outcome, operations, sentences.map(shapeOf), findings.map(({ id }) => id).sort()])
}

/** From "alice: 2,000.00 USDC in aave-usdc instead of 1,000.00 (deposit of 1,000.00: twice instead of once)", the text in brackets. */
function shapeOf(sentence: string): string {
  const [, transfers] = /\(([^)]*)\)$/.exec(sentence) ?? []
  return (transfers ?? sentence.replace(/^[^:]*: /, '')).replace(/\d[\d.,]*/g, '0')
}
