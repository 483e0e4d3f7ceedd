import type { Books, BooksTransfer } from '../../src/books/books.ts'
import { compareBooks } from '../../src/books/compare-books.ts'
import { judgeBooks } from '../../src/books/judge-books.ts'
import type { LedgerTransfer, Sibling } from '../../src/oracle/facts.ts'
import { judgeOperations } from '../../src/oracle/judge-operations.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { PORTFOLIO } from '../oracle/story.ts'
import { type EvidenceParts, evidenceOf } from '../verdict/evidence.ts'

/** A deposit of alice's in the books: 250.00 USDC, done, unless something else is given. */
export function row({ pool_id, ...parts }: RowParts = {}): BooksTransfer {
  const place = pool_id !== undefined ? { pool_id } : parts.portfolio_id !== undefined ? {} : { pool_id: 'aave-usdc' }
  return { external_id: 'alice', ...place, type: 'deposit', amount_minor: '250000000', state: 'done', ...parts }
}

interface RowParts extends Partial<Omit<BooksTransfer, 'pool_id'>> {
  pool_id?: string | undefined
}

/** A run and the books after it. */
export interface Booked extends EvidenceParts {
  exchanges: readonly RecordedExchange[]
  /** Of the ledger. */
  booked?: readonly LedgerTransfer[]
  rows?: readonly BooksTransfer[] | undefined
  balances?: Books['balances']
  sibling?: Sibling
}

/** The facts and the books of a run. */
export function story({ exchanges, booked = [], rows, balances, sibling, ...rest }: Booked) {
  const ledger = { transfers: booked, under_way: [], portfolios: [PORTFOLIO], ...rest.ledger }
  const books: Books = { form: 1, ...(rows && { transfers: [...rows] }), ...(balances && { balances }) }
  return { facts: evidenceOf(exchanges, { ...rest, ledger }), books, sibling }
}

/** Findings on the books: `wrong …` and `lag …` with their sentences. */
export function findings(run: Booked): string[] {
  const { facts, books, sibling } = story(run)
  return compareBooks(books, facts, sibling).map(({ verdict, sentence }) => `${verdict}: ${sentence}`)
}

/** A run judged with its books. */
export function judged(run: Booked) {
  const { facts, books, sibling } = story(run)
  return judgeBooks(judgeOperations(facts, { sibling }), books, facts, sibling)
}

/** Its outcomes, as `id level`, the worst first. */
export function outcomes(run: Booked): string[] {
  return judged(run).outcomes.map(({ outcome, level }) => `${outcome} ${level}`)
}
