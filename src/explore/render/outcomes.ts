import { type Level, OUTCOMES as OF_OPERATIONS, type OutcomeId } from '../../oracle/outcome.ts'
import { TRIAL_OUTCOMES, type TrialOutcome, type TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import type { Matrix } from '../matrix.ts'

/** Outcome of a cell of the matrix. */
export type CellOutcome = TrialOutcome | 'untried'

/** Signs by severity; phones show none of them as a picture. */
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

interface OutcomeWords {
  sign: string
  name: string
  meaning: string
}

const OWN: Record<Exclude<CellOutcome, OutcomeId>, OutcomeWords> = {
  left_undone: {
    sign: '✗',
    name: 'left undone',
    meaning: 'killed and started again, the command ended well and has moved less than it should',
  },
  gave_up_safely: {
    sign: '~',
    name: 'gave up safely',
    meaning:
      'killed and started again, or beside a second process, the command reported that it needs help; no money is elsewhere',
  },
  errored: { sign: '?', name: 'errored', meaning: 'the run itself went wrong: it says nothing' },
  not_exercised: { sign: '-', name: 'not exercised', meaning: 'the fault never struck' },
  survived: {
    sign: '✓',
    name: 'survived',
    meaning: 'the client knows of all of it, and the money is as without faults or as in its books',
  },
  untried: { sign: '·', name: 'not tried', meaning: 'the run did not take place' },
}

const MEANINGS: Record<OutcomeId, string> = {
  paid_twice: 'the same order moved money more than once',
  took_out_unpaid: 'money was withdrawn that the order had not put in',
  untold: 'the money moved, the command ended well, and nothing had told it so',
  wrong_books: "the application's own books are not as the ledger",
  hung: 'the command was not done in time',
  paid_twice_put_right: 'the money moved twice, and one of the two was taken back',
  made_twice: 'the same portfolio was made more than once',
  forgotten: 'the requests that show it are not on record any more',
  not_known_yet: 'it was still under way',
  contradiction: 'the ledger and the answers disagree: a mistake of the sandbox',
  left_open: 'the money moved, and the command failed before anything told it so',
  perhaps_told: 'the money moved, and only something that is read anyway showed it',
  key_expired: 'the same key moved money again after it had expired',
  lucky: 'sent again under another key, and only by luck it moved once',
  not_asked_for: 'the order was left out, and the command ended well',
  another_amount: 'the money moved, and not as much as without faults',
  key_again: 'a key was sent again although it had been answered',
  equal_at_once: 'two equal orders under two keys at once',
  gave_up: 'nothing moved, and nothing told the client so',
  gave_up_looked: 'nothing moved, and the client looked and did not find it',
  stopped: 'the command ended before it asked for it',
  taken_back: 'the client put the money back',
  books_lag: 'the client was told, and its books still have it open',
  refused: 'nothing moved, and the client was told',
  put_off: 'nothing moved, and the client was told to come again',
  misled: 'a fault gave the client a wrong answer: not judged',
  booked: 'the books of the application have it as the ledger does',
  found: 'the money moved, and the client found it in the list',
  told: 'the money moved, and the client was told',
}

/** Presentation of outcomes: a sign for a cell, a name, and a meaning. */
export const OUTCOMES: Record<CellOutcome, OutcomeWords> = { ...ofOperations(), ...OWN }

function ofOperations(): Record<Extract<CellOutcome, OutcomeId>, OutcomeWords> {
  const shown = Object.entries(OF_OPERATIONS).map(([id, { level, title }]) => {
    return [id, { sign: id === 'hung' ? '∞' : SIGNS[level], name: title, meaning: MEANINGS[id as OutcomeId] }]
  })
  return Object.fromEntries(shown)
}

/** Sign of a result or a cell: by its level, since an outcome is milder for a new portfolio, or in an outage. */
export function signOf({ outcome, level }: { outcome: CellOutcome; level: Level }): string {
  return outcome === 'hung' || Object.hasOwn(OWN, outcome) ? OUTCOMES[outcome].sign : SIGNS[level]
}

/** Outcomes in the order of a legend. */
export const OUTCOMES_SHOWN: readonly CellOutcome[] = [...TRIAL_OUTCOMES, 'untried']

/** Legend of a matrix: each outcome in it, once for each of its signs. */
export function legendOf({ rows }: Matrix): (OutcomeWords & { outcome: CellOutcome })[] {
  const cells = rows.flatMap((row) => row.cells.flatMap((cell) => cell ?? []))
  return OUTCOMES_SHOWN.flatMap((outcome) => {
    const signs = new Set(cells.flatMap((cell) => (cell.outcome === outcome ? [signOf(cell)] : [])))
    return [...signs].map((sign) => ({ ...OUTCOMES[outcome], outcome, sign }))
  })
}

/** Levels that prevent the verdict "passed" though nothing failed. */
export const GRAVE: readonly Level[] = ['inconclusive', 'review']

/** @returns true for a result that is not a failure but that people should know */
export function isAside({ level, outcome }: TrialResult): boolean {
  return !isBad(level) && outcome !== 'survived'
}

/** Sentences in one line, without a full stop at its end or before a semicolon. */
export function inOneLine(sentences: readonly string[]): string {
  return sentences.map((sentence) => sentence.replace(/\.$/, '')).join('; ')
}
