import type { TrialOutcome } from '../../src/explore/exploration.ts'

/** Where a worker is killed or gets company: before its request has done anything, with its transfer under way, or when that is done and not answered. */
export type PointKind = 'request' | 'unanswered' | 'under_way'

/** The names of the points. */
export const POINTS: Record<keyof Expected, Record<PointKind, string>> = {
  kills: { request: 'killed-on-request', unanswered: 'killed-unanswered', under_way: 'killed-under-way' },
  twins: {
    request: 'twin-while-held-on-request',
    unanswered: 'twin-while-unanswered',
    under_way: 'twin-while-under-way',
  },
}

/** An outcome, or those of which chance takes one. */
export type ExpectedOutcome = TrialOutcome | readonly TrialOutcome[]

/** What comes of a worker at each of its three transfers, `deposit#1`, `deposit#2` and `withdraw#1`, and what `--books` comes to then. */
export interface ExpectedTransfers {
  outcomes: readonly [ExpectedOutcome, ExpectedOutcome, ExpectedOutcome]
  /** `r` right, `w` wrong, in the same order: `rrw`. Of kills alone. */
  books: string
}

const every = (outcome: ExpectedOutcome, books: 'rrr' | 'www' = 'rrr'): ExpectedTransfers => ({
  outcomes: [outcome, outcome, outcome],
  books,
})

const SURVIVED = every('survived')

/** Another key after a start: what was not done is done once by luck, what was done or is under way is done twice. */
const ANOTHER_KEY: Record<PointKind, ExpectedTransfers> = {
  request: every('lucky'),
  unanswered: every('paid_twice', 'www'),
  under_way: every('paid_twice', 'www'),
}

const NOTHING_WRONG: Record<PointKind, ExpectedTransfers> = {
  request: SURVIVED,
  unanswered: SURVIVED,
  under_way: SURVIVED,
}

/**
 * The worker is killed and started again (`kills`), or a second one is started while it is held (`twins`) and goes as far as it can before the
 * first goes on. At every other request, the portfolio's included, each of them survives.
 */
export interface Expected {
  kills: Record<PointKind, ExpectedTransfers>
  twins: Record<PointKind, ExpectedTransfers>
}

/** Twins that pay each under its own key. */
const PAID_BY_BOTH = every('paid_twice', 'www')

const BOTH_PAY: Record<PointKind, ExpectedTransfers> = {
  request: PAID_BY_BOTH,
  unanswered: PAID_BY_BOTH,
  under_way: PAID_BY_BOTH,
}

/** By the mistake; '' is the worker that makes none. */
export const EXPECTED: Record<string, Expected> = {
  '': { kills: NOTHING_WRONG, twins: NOTHING_WRONG },

  'key-in-memory': { kills: ANOTHER_KEY, twins: BOTH_PAY },
  'key-stored-after-sending': { kills: ANOTHER_KEY, twins: BOTH_PAY },
  'key-per-start': { kills: ANOTHER_KEY, twins: BOTH_PAY },
  'no-lock-between-twins': { kills: ANOTHER_KEY, twins: BOTH_PAY },

  // It does not ask again for what it takes for done. Right books then clear what it was not told.
  'done-before-sending': {
    kills: { request: every('left_undone', 'www'), unanswered: every('untold'), under_way: every('untold') },
    twins: NOTHING_WRONG,
  },

  // A killed worker sees no broken connection, and no bad answer: faults show these (EXPECTED_FAULTS).
  'failed-on-broken-connection': { kills: NOTHING_WRONG, twins: NOTHING_WRONG },
  'done-on-any-answer': { kills: NOTHING_WRONG, twins: NOTHING_WRONG },

  // The list has what is done, and not what is under way, nor what the other one is about to send.
  'looks-once-then-pays-again': {
    kills: { request: every('lucky'), unanswered: SURVIVED, under_way: every('paid_twice', 'www') },
    twins: { request: PAID_BY_BOTH, unanswered: SURVIVED, under_way: PAID_BY_BOTH },
  },

  // A dead worker's claim is taken over with its key. Only one that lives is robbed of its job.
  'cleaner-frees-jobs': { kills: NOTHING_WRONG, twins: BOTH_PAY },

  // It takes 250 out of an empty portfolio (refused) or 100 out of the first deposit; it treats withdrawals as the right worker does.
  'pays-back-what-seems-lost': {
    kills: {
      request: { outcomes: ['left_undone', 'took_out_unpaid', 'survived'], books: 'rrr' },
      unanswered: { outcomes: ['took_out_unpaid', 'untold', 'survived'], books: 'wwr' },
      under_way: { outcomes: ['took_out_unpaid', 'untold', 'survived'], books: 'wwr' },
    },
    twins: {
      request: { outcomes: ['refused', 'taken_back', 'survived'], books: 'wwr' },
      unanswered: { outcomes: ['taken_back', 'taken_back', 'survived'], books: 'wwr' },
      // Whichever ends first writes its outcome down; after the first deposit, each takes the other's next order for lost, or does not.
      under_way: { outcomes: [['taken_back', 'refused', 'survived'], 'taken_back', 'survived'], books: 'wwr' },
    },
  },
}

/**
 * What faults come to, without a crash, at each transfer: the same at all three. Every other mistake survives them, since a request is repeated
 * under the key that its process has.
 */
export const EXPECTED_FAULTS: Record<string, Record<string, TrialOutcome>> = {
  'failed-on-broken-connection': { 'reset-on-request': 'gave_up', 'reset-after-broadcast': 'untold' },
  'done-on-any-answer': { 'internal-error': 'gave_up', 'gateway-timeout-after-broadcast': 'untold' },
}
