import type { BooksFinding, BooksTransfer } from '../../src/books/books.ts'
import type { Facts, LedgerTransfer } from '../../src/oracle/facts.ts'
import { type ClientOperation, operationsOf } from '../../src/oracle/operation.ts'
import { RunSurroundings, toldOf } from '../../src/oracle/told.ts'

interface Side {
  operation: ClientOperation
  transfer: LedgerTransfer | undefined
  known: boolean
}

/** Counts of findings: wrong ones, transfers that are open though they were told, and the same of refusals. */
export function countsOf(findings: readonly BooksFinding[]) {
  const lag = findings.filter(({ verdict }) => verdict === 'lag')
  const refused = lag.filter(({ sentence }) => sentence.includes('was refused')).length
  return { wrong: findings.length - lag.length, lag: lag.length - refused, refused }
}

/**
 * The fewest findings of some books, by trying every pairing of their rows with transfers and operations. Of refusals that are still open it
 * gives the most that may be found: an open row stands for one only where nothing else is left for it.
 */
export function fewestFindings(rows: readonly BooksTransfer[], facts: Facts): ReturnType<typeof countsOf> {
  const around = new RunSurroundings(facts, undefined)
  const sides = operationsOf(facts).flatMap((operation): Side[] => {
    const known = ['done', 'found', 'refused'].includes(toldOf(operation, around).told)
    const transfers = operation.transfers.length > 0 ? operation.transfers : [undefined]
    return transfers.map((transfer) => ({ operation, transfer, known }))
  })
  const named = rows.map((row) => sides.find((side) => isNamedBy(row, side)))
  const free = sides.filter((side) => !named.includes(side))
  const rest = rows.filter((_, i) => !named[i])
  const sure = rows.flatMap((row, i) => (named[i] ? [costOf(row, named[i])] : []))
  const [wrong = 0, lag = 0, openAlone = 0, , refused = 0] = added(sure, leastOf(rest, free))
  return { wrong, lag, refused: refused + openAlone }
}

function isNamedBy(row: BooksTransfer, { operation, transfer }: Side): boolean {
  if (row.external_id !== operation.external_id || row.type !== operation.type) return false
  if (row.idempotency_key?.toLowerCase() === operation.key) return transfer !== undefined || row.state !== 'done'
  return transfer !== undefined && row.tx_hash?.toLowerCase() === transfer.tx_hash
}

/** Wrong findings, lags, open rows without an order, failed rows without one and refusals without a row, lags of refusals. */
type Cost = readonly number[]

function costOf({ state, ...row }: BooksTransfer, side: Side): Cost {
  if (side.operation.state === 'under_way') return []
  if (state === 'open') return side.transfer ? [0, Number(side.known)] : [0, 0, 0, 0, Number(side.known)]
  if (state === 'failed' || !side.transfer) return [Number((state === 'failed') === (side.transfer !== undefined))]
  return [Number(!fits({ state, ...row }, side))]
}

function fits({ portfolio_id, pool_id, ...row }: BooksTransfer, { operation, transfer }: Side): boolean {
  if (row.external_id !== operation.external_id || row.type !== operation.type) return false
  if (portfolio_id === undefined ? pool_id !== operation.pool_id : portfolio_id !== operation.portfolio_id) return false
  return [operation.amount_minor, transfer?.amount_minor].includes(row.amount_minor)
}

function leastOf([row, ...rest]: readonly BooksTransfer[], sides: readonly Side[]): Cost {
  if (!row) return added(sides.map(({ transfer, known }) => (transfer ? [1] : [0, 0, 0, Number(known)])))
  const alone = { done: [1], open: [0, 0, 1], failed: [0, 0, 0, 1] }[row.state]
  const near = sides.filter((side) => fits(row, side) && !isLastResort(row, side))
  const costs = near.map((side) =>
    added([
      costOf(row, side),
      leastOf(
        rest,
        sides.filter((one) => one !== side),
      ),
    ]),
  )
  return [added([alone, leastOf(rest, sides)]), ...costs].reduce((least, cost) => (isLess(cost, least) ? cost : least))
}

/** Neither makes fewer findings than a row that stands for nothing. */
function isLastResort({ state }: BooksTransfer, { operation, transfer, known }: Side): boolean {
  if (transfer || operation.state === 'under_way') return false
  return state === 'done' || (state === 'open' && known)
}

function added(costs: readonly Cost[], ...more: Cost[]): Cost {
  const all = [...costs, ...more]
  return [0, 1, 2, 3, 4].map((i) => all.reduce((sum, cost) => sum + (cost[i] ?? 0), 0))
}

function isLess(one: Cost, other: Cost): boolean {
  const i = one.findIndex((part, at) => part !== other[at])
  return i >= 0 && (one[i] ?? 0) < (other[i] ?? 0)
}
