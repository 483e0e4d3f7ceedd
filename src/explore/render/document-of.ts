import type { Exploration } from '../exploration.ts'
import type { ExplorationDocument, ExplorationIncident } from '../exploration-document.ts'
import { isBad } from '../judge/judge-trial.ts'
import { explorationSummary } from '../summary.ts'
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
  return {
    verdict,
    summary: verdictSentence(exploration),
    ...(headline !== undefined && { headline }),
    counts,
    pace: `${tally(exploration)}. ${pace(exploration)}.`,
    remarks: leftOpen(exploration),
    outcomes: Object.fromEntries(named),
    incidents: {
      wrong: incidentsOf(exploration, ({ level }) => isBad(level)).map(shownIncident),
      aside: incidentsOf(exploration, isAside).map(shownIncident),
    },
    ...exploration,
  }
}

function shownIncident(incident: Incident): ExplorationIncident {
  const also = alikeInWords(incident)
  return {
    trials: [incident.first, ...incident.others].map(({ trial }) => trial.id),
    ...(also !== undefined && { also }),
    findings: explanationsOf(incident).map(({ id }) => id),
  }
}
