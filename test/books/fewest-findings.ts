import type { BooksFinding, BooksTransfer } from '../../src/books/books.ts'
import type { Facts, LedgerPortfolio, LedgerTransfer } from '../../src/oracle/facts.ts'
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
  const costs = pairingsOf(rows, facts).map(({ cost }) => cost)
  const [wrong = 0, lag = 0, openAlone = 0, , refused = 0] = costs.reduce((a, b) => (isLess(b, a) ? b : a))
  return { wrong, lag, refused: refused + openAlone }
}

/** Every sum to which the balance of a portfolio may come beside these rows, in any pairing with as few wrong findings. */
export function possibleSums(rows: readonly BooksTransfer[], facts: Facts, place: LedgerPortfolio): Set<number> {
  const all = pairingsOf(rows, facts)
  const fewest = Math.min(...all.map(({ cost: [wrong = 0] }) => wrong))
  const own = facts.ledger.transfers.filter(({ portfolio_id }) => portfolio_id === place.portfolio_id)
  const moved = own.reduce((sum, one) => sum + signed(one), 0)
  const best = all.filter(({ cost }) => cost[0] === fewest)
  return new Set(
    best.flatMap(({ pairs }) => {
      const open = pairs.filter(([row]) => row.state === 'open' && isAt(row, place))
      return open.reduce(
        (sums, [row, side]) => sums.flatMap((sum) => stepsOf(row, side).map((by) => sum + by)),
        [moved],
      )
    }),
  )

  function stepsOf(row: BooksTransfer, side: Side | undefined): number[] {
    const [asked, transfer] = [signed(row), side?.transfer]
    if (!transfer) return [0, asked]
    return own.includes(transfer) ? [0, -signed(transfer), asked - signed(transfer)] : [0, asked, signed(transfer)]
  }
}

function signed({ type, amount_minor }: { type: string; amount_minor: string }): number {
  return Number(amount_minor) * (type === 'deposit' ? 1 : -1)
}

/** Wrong findings, lags, open rows without an order, failed rows without one and refusals without a row, lags of refusals. */
type Cost = readonly number[]
type Pair = readonly [row: BooksTransfer, side: Side | undefined]

function pairingsOf(rows: readonly BooksTransfer[], facts: Facts): { pairs: Pair[]; cost: Cost }[] {
  const around = new RunSurroundings(facts, undefined)
  const sides = operationsOf(facts).flatMap((operation): Side[] => {
    const known = ['done', 'found', 'refused'].includes(toldOf(operation, around).told)
    const transfers = operation.transfers.length > 0 ? operation.transfers : [undefined]
    return transfers.map((transfer) => ({ operation, transfer, known }))
  })
  const named = rows.flatMap((row): Pair[] => {
    const side = sides.find((one) => isNamedBy(row, one))
    return side ? [[row, side]] : []
  })
  const taken = named.map(([, side]) => side)
  const rest = rows.filter((row) => !named.some(([one]) => one === row))
  const sure = named.map(([row, side]) => costOf(row, side))
  const free = sides.filter((side) => !taken.includes(side))
  return [...everyPairing(rest, free)].map((pairs) => {
    const left = free.filter((side) => !pairs.some(([row, one]) => one === side && !isLastResort(row, side)))
    const costs = pairs.map(([row, side]) => costOf(row, side && isLastResort(row, side) ? undefined : side))
    return { pairs: [...named, ...pairs], cost: added([...sure, ...costs, ...left.map(aloneCostOf)]) }
  })
}

function* everyPairing([row, ...rest]: readonly BooksTransfer[], sides: readonly Side[]): Generator<Pair[]> {
  if (!row) return yield []
  for (const side of [undefined, ...sides.filter((one) => fits(row, one))]) {
    const others = sides.filter((one) => one !== side)
    for (const pairs of everyPairing(rest, others)) yield [[row, side], ...pairs]
  }
}

function isNamedBy(row: BooksTransfer, { operation, transfer }: Side): boolean {
  if (row.external_id !== operation.external_id || row.type !== operation.type) return false
  if (row.idempotency_key?.toLowerCase() === operation.key) return transfer !== undefined || row.state !== 'done'
  return transfer !== undefined && row.tx_hash?.toLowerCase() === transfer.tx_hash
}

function costOf({ state, ...row }: BooksTransfer, side: Side | undefined): Cost {
  if (!side) return { done: [1], open: [0, 0, 1], failed: [0, 0, 0, 1] }[state]
  if (side.operation.state === 'under_way') return []
  if (state === 'open') return side.transfer ? [0, Number(side.known)] : [0, 0, 0, 0, Number(side.known)]
  if (state === 'failed' || !side.transfer) return [Number((state === 'failed') === (side.transfer !== undefined))]
  return [Number(!fits({ state, ...row }, side))]
}

function aloneCostOf({ transfer, known }: Side): Cost {
  return transfer ? [1] : [0, 0, 0, Number(known)]
}

function fits(row: BooksTransfer, { operation, transfer }: Side): boolean {
  const { type, pool_id, portfolio_id } = operation
  if (row.type !== type || !isAt(row, { external_id: operation.external_id, pool_id, portfolio_id })) return false
  return [operation.amount_minor, transfer?.amount_minor].includes(row.amount_minor)
}

function isAt(
  row: BooksTransfer,
  place: { external_id: string | null; pool_id: string | null; portfolio_id: string | null },
) {
  if (row.external_id !== place.external_id) return false
  return row.portfolio_id === undefined ? row.pool_id === place.pool_id : row.portfolio_id === place.portfolio_id
}

/** Neither makes fewer findings than a row that stands for nothing. */
function isLastResort({ state }: BooksTransfer, { operation, transfer, known }: Side): boolean {
  if (transfer || operation.state === 'under_way') return false
  return state === 'done' || (state === 'open' && known)
}

function added(costs: readonly Cost[]): Cost {
  return [0, 1, 2, 3, 4].map((i) => costs.reduce((sum, cost) => sum + (cost[i] ?? 0), 0))
}

function isLess(one: Cost, other: Cost): boolean {
  const i = one.findIndex((part, at) => part !== other[at])
  return i >= 0 && (one[i] ?? 0) < (other[i] ?? 0)
}
