import type { Facts, Sibling } from '../oracle/facts.ts'
import type { ClientOperation } from '../oracle/operation.ts'
import { type OperationOutcome, OUTCOMES, type OutcomeId, outcomeRank } from '../oracle/outcome.ts'
import { BOOKS_STATES, type Books, type BooksFinding, type BooksSaid } from './books.ts'
import { compareBooks } from './compare-books.ts'

/** Outcomes of a run, judged with the books of its app. */
export interface JudgedBooks {
  /** The worst first. */
  outcomes: OperationOutcome[]
  /** Outcomes that right books have cleared, as they were without books. */
  cleared: OperationOutcome[]
  said: BooksSaid
}

/** Outcomes of which it depends on what the app believes whether it did right. */
const CLEARED: readonly OutcomeId[] = [
  'perhaps_told',
  'untold',
  'left_open',
  'refused',
  'put_off',
  'lucky',
  'gave_up_looked',
  'gave_up',
  'not_asked_for',
]

/**
 * Judges the outcomes of a run again, with the books of its app: where they are right, what was open or untold is well; where they are wrong,
 * that is an outcome of its own. Money that moved twice stays so. Pure.
 */
export function judgeBooks(
  outcomes: readonly OperationOutcome[],
  books: Books,
  facts: Facts,
  sibling?: Sibling,
): JudgedBooks {
  if (facts.forgotten.reset > 0) {
    const sentence = 'Your books cannot be compared: the sandbox was reset, and its ledger is gone.'
    return { outcomes: [...outcomes], cleared: [], said: { verdict: 'unusable', sentence, ...countsOf(books) } }
  }
  const findings = compareBooks(books, facts, sibling)
  const named = new Set(findings.flatMap(({ operations }) => operations.map(operationName)))
  const whose = new Set(findings.flatMap(({ operations }) => operations.map(({ external_id }) => external_id)))
  const isDoubted = (one: OperationOutcome) => {
    const name = outcomeName(one)
    if (one.type !== 'create_portfolio' && name !== undefined) return named.has(name)
    return one.external_id === null ? findings.length > 0 : whose.has(one.external_id)
  }
  const open = outcomes.filter(({ outcome }) => CLEARED.includes(outcome))
  const cleared = open.filter((one) => !isDoubted(one))
  // A finding on the books replaces what they would have cleared.
  const replaced = open.filter((one) => named.has(outcomeName(one) ?? ''))
  const kept = outcomes.filter((one) => !cleared.includes(one) && !replaced.includes(one))
  const judged = [...kept, ...cleared.map(clearedOutcome), ...booksOutcomes(findings, kept, facts)]
  return {
    outcomes: judged.sort((a, b) => outcomeRank(a) - outcomeRank(b)),
    cleared,
    said: saidOf(books, findings),
  }
}

/** What is said where no books could be read; `reason` is a sentence without its full stop. */
export function unusableBooks(reason: string): BooksSaid {
  return { verdict: 'unusable', sentence: `${reason}.`, done: 0, failed: 0, open: 0, balances: 0 }
}

function operationName({ attempts, type, external_id, key }: ClientOperation): string {
  return attempts[0]?.exchange.request_id ?? JSON.stringify([type, external_id, key])
}

/** Undefined for an operation that was never sent. */
function outcomeName({ request_ids, type, external_id, idempotency_key: key }: OperationOutcome): string | undefined {
  return request_ids[0] ?? (key === null ? undefined : JSON.stringify([type, external_id, key]))
}

/** The same operation, which is well since the books have it as the ledger does. */
function clearedOutcome(one: OperationOutcome): OperationOutcome {
  const [first = ''] = one.sentence.split(/(?<=\.) /)
  const { money_moved_wrongly: _, ...rest } = one
  const sentence = `${first.replace(/\.$/, '')}; your books are right.`
  return { ...rest, outcome: 'booked', level: OUTCOMES.booked.level, sentence }
}

function booksOutcomes(
  findings: readonly BooksFinding[],
  others: readonly OperationOutcome[],
  { end, ledger }: Facts,
): OperationOutcome[] {
  const counted = others.flatMap(({ money_moved_wrongly: moved }) =>
    moved ? Array.from({ length: moved.times }, () => moneyName(moved)) : [],
  )
  return findings.map(({ verdict, sentence, operations, missing }) => {
    const [first] = operations
    const outcome = verdict === 'wrong' ? 'wrong_books' : 'books_lag'
    const requests = operations.flatMap(({ attempts }) => attempts.map(({ exchange }) => exchange.request_id))
    return {
      outcome,
      level: verdict === 'wrong' && end !== 'well' ? 'serious' : OUTCOMES[outcome].level,
      sentence,
      tenant: first?.tenant ?? null,
      external_id: first?.external_id ?? null,
      type: first?.type ?? 'deposit',
      idempotency_key: first?.key ?? null,
      amount_minor: first?.amount_minor ?? null,
      portfolio_id: first?.portfolio_id ?? null,
      request_ids: [...new Set(requests)],
      ...missingMoney(missing),
    }
  })

  /** Money that moved wrongly is counted once, though the books miss it as well. */
  function missingMoney(missing: BooksFinding['missing']): Pick<OperationOutcome, 'money_moved_wrongly'> {
    const portfolio = ledger.portfolios.find(({ portfolio_id }) => portfolio_id === missing?.portfolio_id)
    if (!missing || !portfolio) return {}
    const at = counted.indexOf(moneyName(missing))
    if (at >= 0) {
      counted.splice(at, 1)
      return {}
    }
    const { tenant, external_id, portfolio_id, amount_minor } = missing
    const { token_symbol, token_decimals } = portfolio
    return {
      money_moved_wrongly: { tenant, external_id, portfolio_id, amount_minor, token_symbol, token_decimals, times: 1 },
    }
  }
}

function moneyName({ tenant, external_id, portfolio_id, amount_minor }: NonNullable<BooksFinding['missing']>): string {
  return JSON.stringify([tenant, external_id, portfolio_id, amount_minor])
}

function countsOf({ transfers = [], balances = [] }: Books): Omit<BooksSaid, 'verdict' | 'sentence'> {
  const [done = 0, failed = 0, open = 0] = BOOKS_STATES.map(
    (state) => transfers.filter((row) => row.state === state).length,
  )
  return { done, failed, open, balances: balances.length }
}

function saidOf(books: Books, findings: readonly BooksFinding[]): BooksSaid {
  const counts = countsOf(books)
  const count = (verdict: BooksFinding['verdict']) => findings.filter((one) => one.verdict === verdict).length
  const [wrong, lag] = [count('wrong'), count('lag')]
  const what = contentsInWords(books, counts)
  if (wrong > 0) {
    const places = wrong === 1 ? 'one place' : `${wrong} places`
    return { verdict: 'wrong', sentence: `Your books are wrong in ${places}: ${what}.`, ...counts }
  }
  if (lag > 0) {
    const still = lag === 1 ? 'one transfer is' : `${lag} transfers are`
    return {
      verdict: 'lag',
      sentence: `Your books lag: ${still} still open although your client was told (${what}).`,
      ...counts,
    }
  }
  return { verdict: 'right', sentence: `Your books are right: ${what}.`, ...counts }
}

/** "3 transfers (2 done, 1 open), 1 balance" */
function contentsInWords({ transfers, balances }: Books, counts: ReturnType<typeof countsOf>): string {
  const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
  const states = BOOKS_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`)
  const inBrackets = states.length > 0 ? ` (${states.join(', ')})` : ''
  return [
    ...(transfers ? [`${counted(transfers.length, 'transfer')}${inBrackets}`] : []),
    ...(balances ? [counted(balances.length, 'balance')] : []),
  ].join(', ')
}
