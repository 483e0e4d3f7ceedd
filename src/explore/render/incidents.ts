import { type Exploration, TRIAL_OUTCOMES, type TrialOutcome, type TrialResult } from '../exploration.ts'

/** What happened at one place or alike at several. */
export interface Incident {
  outcome: TrialOutcome
  first: TrialResult
  /** Ids of the other trials that came to the same. */
  others: string[]
}

/** Results of these outcomes, the worst first; those of one operation that the same findings explain are one. */
export function incidentsOf({ results }: Pick<Exploration, 'results'>, wanted: readonly TrialOutcome[]): Incident[] {
  const incidents = new Map<string, Incident>()
  for (const result of results) {
    if (!wanted.includes(result.outcome)) continue
    const key = likeness(result)
    const known = incidents.get(key)
    if (known) known.others.push(result.trial.id)
    else incidents.set(key, { outcome: result.outcome, first: result, others: [] })
  }
  const rank = ({ outcome }: Incident) => TRIAL_OUTCOMES.indexOf(outcome)
  return [...incidents.values()].sort((a, b) => rank(a) - rank(b))
}

function likeness({ outcome, trial: { harms }, findings }: TrialResult): string {
  // The same mistake, whatever brought it to light; without one that is known, the same fault.
  const what = harms.map(({ hazard, position }) => [position.operation, findings.length > 0 || hazard.id])
  return JSON.stringify([outcome, what, findings.map(({ id }) => id)])
}
