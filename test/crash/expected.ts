import type { TrialOutcome } from '../../src/explore/exploration.ts'

/**
 * Where a worker is killed: before its request has done anything; when its write is done, and not answered; with its transfer under way,
 * and still so when it is started again.
 */
export const CRASH_KINDS = ['request', 'unanswered', 'under_way'] as const
/** See {@link CRASH_KINDS}. */
export type CrashKind = (typeof CRASH_KINDS)[number]

/** Outcomes of `explore`. `left_undone`: it ended well, and moved less than without a crash. */
export type CrashOutcome = TrialOutcome | 'left_undone'

/** An outcome, or those of which chance takes one; null for any. */
export type ExpectedOutcome = CrashOutcome | readonly CrashOutcome[] | null

/** What comes of a worker at each of its three transfers, `deposit#1`, `deposit#2` and `withdraw#1`, and what `--books` comes to then. */
export interface ExpectedTransfers {
  outcomes: readonly [ExpectedOutcome, ExpectedOutcome, ExpectedOutcome]
  /** `r` right, `w` wrong, `?` either, in the same order: `rrw`. */
  books: string
}

const every = (outcome: ExpectedOutcome, books: 'rrr' | 'www' = 'rrr'): ExpectedTransfers => ({
  outcomes: [outcome, outcome, outcome],
  books,
})

const SURVIVED = every('survived')

/** Another key after a start: what was not done is done once by luck, what was done or is under way is done twice. */
const ANOTHER_KEY: Record<CrashKind, ExpectedTransfers> = {
  request: every('lucky'),
  unanswered: every('paid_twice', 'www'),
  under_way: every('paid_twice', 'www'),
}

const NOTHING_WRONG: Record<CrashKind, ExpectedTransfers> = {
  request: SURVIVED,
  unanswered: SURVIVED,
  under_way: SURVIVED,
}

/**
 * Twins that wait for one transfer together go on together, and chance decides whether one sends a key whose answer the other one has. That is
 * right, and noted.
 */
const TOGETHER: ExpectedOutcome = ['survived', 'key_again']
const SAME_KEY: Record<CrashKind, ExpectedTransfers> = {
  ...NOTHING_WRONG,
  under_way: { outcomes: [TOGETHER, TOGETHER, 'survived'], books: 'rrr' },
}

/**
 * The worker is killed and started again (`kills`), or a second one is started while it is held (`twins`) and goes as far as it can before the
 * first goes on. At every other request, the portfolio's included, each of them survives.
 */
export interface Expected {
  kills: Record<CrashKind, ExpectedTransfers>
  twins: Record<CrashKind, ExpectedTransfers>
}

/** Twins that pay each under its own key. Of a withdrawal nobody can say that it is one too many: there is as much in the portfolio. */
const PAID_BY_BOTH: ExpectedTransfers = {
  outcomes: ['paid_twice', 'paid_twice', 'equal_at_once'],
  books: 'www',
}

const BOTH_PAY: Record<CrashKind, ExpectedTransfers> = {
  request: PAID_BY_BOTH,
  unanswered: PAID_BY_BOTH,
  under_way: PAID_BY_BOTH,
}

/** By the mistake; '' is the worker that makes none. */
export const EXPECTED: Record<string, Expected> = {
  '': { kills: NOTHING_WRONG, twins: SAME_KEY },

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
  'failed-on-broken-connection': { kills: NOTHING_WRONG, twins: SAME_KEY },
  'done-on-any-answer': { kills: NOTHING_WRONG, twins: SAME_KEY },

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
      under_way: { outcomes: [null, 'taken_back', 'survived'], books: '??r' },
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
