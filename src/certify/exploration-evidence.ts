import { type Exploration, TRIAL_OUTCOMES, type TrialResult } from '../explore/exploration.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { grouped } from '../support/grouped.ts'
import { shorten } from '../support/shorten.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { Evidence, Incident } from './evidence.ts'
import { isOpen } from './is-open.ts'

/** Those that explain where money went; others vary with how fast a machine is. */
const CRITICAL = new Set<string>(FINDINGS.filter(({ impact }) => impact === 'critical').map(({ id }) => id))
/** A sentence about one operation names its end user, who may have another name in every run. */
const OF_AN_OPERATION =
  /^(.*?)((?:'s (?:deposit|withdrawal|new portfolio)\b|: a (?:deposit|withdraw) was carried out).*)$/s
/** Outcomes whose sentences may be others in the next run. */
const VARYING = new Set<string>(['hung', 'errored'])
/** Characters of a name that sentences show. */
const NAME_SHOWN = 40

/** Outcomes of all runs, by their ids, and what happened where something went wrong. */
export function explorationEvidence(exploration: Exploration): Evidence['exploration'] {
  const { baseline, results } = exploration
  const byId = [...results].sort((a, b) => (a.trial.id < b.trial.id ? -1 : 1))
  const doubtful = byId.filter(({ level }) => isBad(level) || isOpen(level))
  const lasting = new Set([...lastingNames(exploration)].flatMap((name) => [name, shorten(name, NAME_SHOWN)]))
  const cells = grouped(doubtful, ({ trial: { harms } }) =>
    harms.map(({ position, hazard }) => `${position.operation} ${hazard.id}`).join(),
  )
  return {
    repeatable: baseline.difference === null,
    trials: byId.flatMap(({ trial, outcome, level }) =>
      trial.harms.map(({ position: { operation }, hazard }) => ({
        id: trial.id,
        operation,
        hazard: hazard.id,
        outcome,
        level,
      })),
    ),
    incidents: [...cells.values()].flatMap((results) => incidentOf(results, lasting)),
  }
}

/** Names that end users have in every run. */
export function lastingNames({ results }: Pick<Exploration, 'results'>): Set<string> {
  return new Set(results.flatMap(({ trial }) => trial.harms.flatMap(({ position }) => position.external_id ?? [])))
}

/** Nothing for no results. */
function incidentOf(results: readonly TrialResult[], lasting: ReadonlySet<string>): Incident[] {
  const worst = TRIAL_OUTCOMES.find((outcome) => results.some((result) => result.outcome === outcome))
  const first = results.find(({ outcome }) => outcome === worst)
  const harm = first?.trial.harms[0]
  if (!first || !harm) return []
  return [
    {
      operation: harm.position.operation,
      hazard: harm.hazard.id,
      outcome: first.outcome,
      level: first.level,
      trial: first.trial.id,
      count: results.length,
      // How far a command came that never ends depends on when it was ended; an error of the sandbox may name a port.
      sentences: VARYING.has(first.outcome) ? [] : first.sentences.map((sentence) => withoutName(sentence, lasting)),
      findings: first.findings.map(({ id }) => id).filter((id) => CRITICAL.has(id)),
      repeat: first.repeat,
    },
  ]
}

/** An end user who has another name in every run has none here. */
function withoutName(sentence: string, lasting: ReadonlySet<string>): string {
  const [, name = '', rest] = OF_AN_OPERATION.exec(sentence) ?? []
  return rest === undefined || lasting.has(name) ? sentence : `an end user${rest}`
}
