import { type Exploration, TRIAL_OUTCOMES, type TrialResult } from '../explore/exploration.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { grouped } from '../support/grouped.ts'
import { FINDINGS } from '../verdict/findings/index.ts'
import type { BadCell, Evidence } from './evidence.ts'

/** Those that explain where money went; others vary with how fast a machine is. */
const CRITICAL = new Set<string>(FINDINGS.filter(({ impact }) => impact === 'critical').map(({ id }) => id))
/** Of a transfer that no answer told the command of: it names its end user, whoever that is in this run. */
const UNKNOWN_TRANSFER = /^(.*): (a (?:deposit|withdraw) was carried out, and no answer .*)$/s

/** Outcomes of all runs, by their ids, and what happened where something went wrong. */
export function explorationEvidence({ baseline, results }: Exploration): Evidence['exploration'] {
  const byId = [...results].sort((a, b) => (a.trial.id < b.trial.id ? -1 : 1))
  const bad = byId.filter(({ level }) => isBad(level))
  const lasting = new Set(
    results.flatMap(({ trial }) => trial.harms.flatMap(({ position }) => position.external_id ?? [])),
  )
  const cells = grouped(bad, ({ trial: { harms } }) =>
    harms.map(({ position, hazard }) => `${position.operation} ${hazard.id}`).join(),
  )
  return {
    repeatable: baseline.difference === null,
    trials: byId.flatMap(({ trial, outcome }) =>
      trial.harms.map(({ position: { operation }, hazard }) => ({
        id: trial.id,
        operation,
        hazard: hazard.id,
        outcome,
      })),
    ),
    bad_cells: [...cells.values()].flatMap((results) => badCell(results, lasting)),
  }
}

/** Nothing for no results. */
function badCell(results: readonly TrialResult[], lasting: ReadonlySet<string>): BadCell[] {
  const worst = TRIAL_OUTCOMES.find((outcome) => results.some((result) => result.outcome === outcome))
  const first = results.find(({ outcome }) => outcome === worst)
  const harm = first?.trial.harms[0]
  if (!first || !harm) return []
  return [
    {
      operation: harm.position.operation,
      hazard: harm.hazard.id,
      outcome: first.outcome,
      trial: first.trial.id,
      count: results.length,
      // How far a command came that never ends depends on when it was ended.
      sentences: first.outcome === 'hung' ? [] : first.sentences.map((sentence) => withoutName(sentence, lasting)),
      findings: first.findings.map(({ id }) => id).filter((id) => CRITICAL.has(id)),
      repeat: first.repeat,
    },
  ]
}

/** An end user who has another name in every run has none here. */
function withoutName(sentence: string, lasting: ReadonlySet<string>): string {
  const [, name = '', rest] = UNKNOWN_TRANSFER.exec(sentence) ?? []
  return rest === undefined || lasting.has(name) ? sentence : `an end user: ${rest}`
}
