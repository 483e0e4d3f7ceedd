import type { Facts, Ledger, Sibling } from '../oracle/facts.ts'
import { describeOperation } from '../oracle/judge-operations.ts'
import { type ClientOperation, operationsOf } from '../oracle/operation.ts'
import { RunSurroundings, toldOf } from '../oracle/told.ts'
import { amountInWords } from '../support/quantities.ts'
import type { Books, BooksFinding, BooksTransfer } from './books.ts'
import { compareBalances } from './compare-balances.ts'
import { hasAmount, isAt, isKnown, isUnderWay, type LedgerSide } from './ledger-side.ts'
import { type BooksPair, pairRows } from './pair-rows.ts'

/**
 * Compares the books of an app with the ledger and with what its client was told, by the rules of docs/oracle.md. Pure. `sibling`: the run
 * without faults, if there is one. Yields nothing where the ledger was lost by a reset.
 */
export function compareBooks(books: Books, facts: Facts, sibling?: Sibling): BooksFinding[] {
  const around = new RunSurroundings(facts, sibling)
  const pools = new Map(facts.ledger.portfolios.map(({ portfolio_id, pool_id }) => [portfolio_id, pool_id]))
  const operations = operationsOf(facts).filter(({ type }) => type !== 'create_portfolio')
  const sides = operations.flatMap((operation): LedgerSide[] => {
    const { told } = toldOf(operation, around)
    const transfers = operation.transfers.length > 0 ? operation.transfers : [undefined]
    return transfers.map((transfer) => {
      // A key that had expired may have carried out another body.
      const pool_id = pools.get(transfer?.portfolio_id ?? '') ?? operation.pool_id
      return { operation, transfer, pool_id, told }
    })
  })
  const pairing = pairRows(books.transfers ?? [], sides)
  const { ledger } = facts
  const rows = books.transfers
    ? [
        ...pairing.pairs.flatMap((pair) => judgePair(pair, ledger)),
        ...pairing.left.flatMap((side) => missingIn(side, ledger)),
      ]
    : []
  return [...rows, ...(books.balances ? compareBalances(books.balances, { pairing, sides, ledger }) : [])]
}

function judgePair({ row, side }: BooksPair, ledger: Ledger): BooksFinding[] {
  const { state } = row
  if (!side) return state === 'done' ? [neverSent(row, ledger)] : []
  const { operation, transfer } = side
  if (isUnderWay(side)) return []
  const of = (verdict: BooksFinding['verdict'], words: string, missing?: BooksFinding['missing']): BooksFinding[] => [
    { verdict, sentence: `${describeOperation(operation, ledger)} ${words}.`, operations: [operation], missing },
  ]
  if (state === 'open') {
    if (!isKnown(side)) return []
    const what = transfer ? 'was carried out' : 'was refused'
    return of('lag', `${what} and your client was told, and it is still open in your books: they lag`)
  }
  if (state === 'failed') {
    return transfer ? of('wrong', 'was carried out, and it has failed in your books', transfer) : []
  }
  if (!transfer) return of('wrong', 'is done in your books, and it was not carried out')
  return otherwise(row, side, ledger)
}

/** Complaints about a row that has the key or the hash of a transfer, and another place or amount. */
function otherwise(row: BooksTransfer, side: LedgerSide, ledger: Ledger): BooksFinding[] {
  const { operation, transfer, pool_id } = side
  const of = (words: string): BooksFinding[] => [
    { verdict: 'wrong', sentence: `${describeOperation(operation, ledger)} ${words}.`, operations: [operation] },
  ]
  if (!isAt(row, side)) {
    return of(
      `was carried out in ${pool_id ?? transfer?.portfolio_id}, and your books have it in ${row.portfolio_id ?? row.pool_id}`,
    )
  }
  if (!hasAmount(row, side)) return of(`was carried out, and your books have it with ${inWords(row, ledger)}`)
  return []
}

function neverSent(row: BooksTransfer, ledger: Ledger): BooksFinding {
  const { tenant = null, external_id, type, idempotency_key: key = null, amount_minor, portfolio_id = null } = row
  const pool_id = row.pool_id ?? ledger.portfolios.find((one) => one.portfolio_id === portfolio_id)?.pool_id ?? null
  const operation: ClientOperation = {
    ...{ tenant, external_id, type, key, amount_minor, portfolio_id, pool_id },
    ...{ attempts: [], state: 'not_done', transfers: [], wish: null },
  }
  const what = describeOperation(operation, ledger)
  return {
    verdict: 'wrong',
    sentence: `${what} is done in your books, and no such transfer was carried out.`,
    operations: [operation],
  }
}

function missingIn({ operation, transfer }: LedgerSide, ledger: Ledger): BooksFinding[] {
  if (!transfer) return []
  const what = describeOperation(operation, ledger)
  return [
    {
      verdict: 'wrong',
      sentence: `${what} was carried out, and your books do not have it.`,
      operations: [operation],
      missing: transfer,
    },
  ]
}

function inWords({ amount_minor, portfolio_id, pool_id }: BooksTransfer, { portfolios }: Ledger): string {
  const portfolio = portfolios.find((one) =>
    portfolio_id === undefined ? one.pool_id === pool_id : one.portfolio_id === portfolio_id,
  )
  if (!portfolio) return `${amount_minor} minor units`
  return `${amountInWords(BigInt(amount_minor), portfolio.token_decimals)} ${portfolio.token_symbol}`
}
