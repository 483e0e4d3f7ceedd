import { ASSUMPTION_OUTCOMES, type AssumptionResult, type Exploration } from '../exploration.ts'
import type { ExplorationDocument, ExplorationIncident } from '../exploration-document.ts'
import { isBad } from '../judge/judge-trial.ts'
import { explorationSummary } from '../summary.ts'
import { ASSUMPTION_WORDS } from './assumption-words.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { type CellOutcome, isAside, OUTCOMES, OUTCOMES_SHOWN } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence, worstSentence } from './sentence.ts'

/** Puts the verdict, its sentence and all other words before the details. */
export function explorationDocument(exploration: Exploration): ExplorationDocument {
  const { verdict, counts } = explorationSummary(exploration)
  const occurred = new Set<CellOutcome>(exploration.results.map(({ outcome }) => outcome))
  if (exploration.untried !== null) occurred.add('untried')
  const named = OUTCOMES_SHOWN.filter((outcome) => occurred.has(outcome)).map((outcome) => {
    const { name, meaning } = OUTCOMES[outcome]
    return [outcome, { name, meaning }]
  })
  const headline = worstSentence(exploration)
  const underOthers = exploration.assumptions && assumptionWords(exploration.assumptions)
  return {
    verdict,
    summary: verdictSentence(exploration),
    ...(headline !== undefined && { headline }),
    counts,
    pace: `${tally(exploration)}. ${pace(exploration)}.`,
    remarks: leftOpen(exploration),
    outcomes: Object.fromEntries(named),
    ...(underOthers && { assumption_outcomes: underOthers }),
    incidents: {
      wrong: incidentsOf(exploration, ({ level }) => isBad(level)).map(shownIncident),
      aside: incidentsOf(exploration, isAside).map(shownIncident),
    },
    ...exploration,
  }
}

function assumptionWords(results: readonly AssumptionResult[]): Record<string, { name: string; meaning: string }> {
  const occurred = ASSUMPTION_OUTCOMES.filter((outcome) => results.some((one) => one.outcome === outcome))
  return Object.fromEntries(
    occurred.map((outcome) => {
      const { name, meaning } = ASSUMPTION_WORDS[outcome]
      return [outcome, { name, meaning }]
    }),
  )
}

function shownIncident(incident: Incident): ExplorationIncident {
  const also = alikeInWords(incident)
  return {
    trials: [incident.first, ...incident.others].map(({ trial }) => trial.id),
    ...(also !== undefined && { also }),
    findings: explanationsOf(incident).map(({ id }) => id),
  }
}
