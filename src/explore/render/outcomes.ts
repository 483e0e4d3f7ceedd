import { TRIAL_OUTCOMES, type TrialOutcome } from '../exploration.ts'

/** What a cell of the matrix shows. */
export type Shown = TrialOutcome | 'untried'

/** How an outcome is shown: a sign for a cell, its name, and what it means. No sign is one that a phone shows as a picture. */
export const OUTCOMES: Record<Shown, { sign: string; name: string; meaning: string }> = {
  silently_wrong: {
    sign: '✗',
    name: 'silent loss or double payment',
    meaning: 'the tests passed, and the money is elsewhere',
  },
  hung: { sign: '∞', name: 'hung', meaning: 'the command never ended' },
  noticed_too_late: {
    sign: '!',
    name: 'noticed too late',
    meaning: 'the tests failed when the money was elsewhere already',
  },
  errored: { sign: '?', name: 'errored', meaning: 'the run itself went wrong: it says nothing' },
  gave_up_safely: { sign: '~', name: 'gave up safely', meaning: 'the tests failed, and no money went astray' },
  not_exercised: { sign: '-', name: 'not exercised', meaning: 'the fault never struck' },
  survived: { sign: '✓', name: 'survived', meaning: 'the same money, and the tests passed' },
  untried: { sign: '·', name: 'not tried', meaning: 'the run did not take place' },
}

/** In the order in which a legend has them. */
export const SHOWN: readonly Shown[] = [...TRIAL_OUTCOMES, 'untried']

/** Outcomes that are no failure, and have to be known. */
export const ASIDE: readonly TrialOutcome[] = ['gave_up_safely', 'errored', 'not_exercised']
