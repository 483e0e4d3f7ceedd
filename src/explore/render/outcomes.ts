import { type Level, OUTCOMES as OF_OPERATIONS, type OutcomeId } from '../../oracle/outcome.ts'
import { TRIAL_OUTCOMES, type TrialOutcome, type TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'

/** What a cell of the matrix shows. */
export type Shown = TrialOutcome | 'untried'

/** By what it costs; no sign is one that a phone shows as a picture. */
const SIGNS: Record<Level, string> = {
  critical: '✗',
  serious: '!',
  inconclusive: '?',
  review: '?',
  warning: '~',
  note: '○',
  none: '-',
  ok: '✓',
}

interface ShownOutcome {
  sign: string
  name: string
  meaning: string
}

const OWN: Record<Exclude<Shown, OutcomeId>, ShownOutcome> = {
  errored: { sign: '?', name: 'errored', meaning: 'the run itself went wrong: it says nothing' },
  not_exercised: { sign: '-', name: 'not exercised', meaning: 'the fault never struck' },
  survived: { sign: '✓', name: 'survived', meaning: 'the same money, and the client knows of all of it' },
  untried: { sign: '·', name: 'not tried', meaning: 'the run did not take place' },
}

/** How an outcome is shown: a sign for a cell, its name, and what it means. */
export const OUTCOMES: Record<Shown, ShownOutcome> = { ...ofOperations(), ...OWN }

function ofOperations(): Record<Extract<Shown, OutcomeId>, ShownOutcome> {
  const shown = Object.entries(OF_OPERATIONS).map(([id, { level, title }]) => {
    return [id, { sign: id === 'hung' ? '∞' : SIGNS[level], name: title, meaning: level }]
  })
  return Object.fromEntries(shown)
}

/** In the order in which a legend has them. */
export const SHOWN: readonly Shown[] = [...TRIAL_OUTCOMES, 'untried']

/** @returns true for a result that is no failure, and has to be known */
export function isAside({ level, outcome }: TrialResult): boolean {
  return !isBad(level) && outcome !== 'survived'
}
