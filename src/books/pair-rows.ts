import { grouped } from '../support/maps.ts'
import { AlikePairs, type PairCosts, type RowChoices } from './alike-pairs.ts'
import type { BooksTransfer } from './books.ts'
import { hasAmount, isAskedFor, isAt, isKnown, isOf, isUnderWay, type LedgerSide } from './ledger-side.ts'

/** A row of the books, and what it stands for. */
export interface BooksPair {
  row: BooksTransfer
  side: LedgerSide | undefined
}

/** What the rows of some books stand for. */
export interface BooksPairing {
  /** In the order of the rows. */
  pairs: readonly BooksPair[]
  /** What no row stands for. */
  left: readonly LedgerSide[]
  /** Everything that a row may stand for without further wrong findings. Equal rows have one list. */
  choicesOf(pair: BooksPair): RowChoices
}

/**
 * Pairs each row with at most one transfer or operation: by its key, else by its hash, else by end user, place, type and amount, so that
 * the books are as right as they can be.
 */
export function pairRows(rows: readonly BooksTransfer[], sides: readonly LedgerSide[]): BooksPairing {
  const free = new Set(sides)
  const found = new Map<BooksTransfer, LedgerSide>()
  const pair = (row: BooksTransfer, side: LedgerSide | undefined) => {
    if (!side) return
    found.set(row, side)
    free.delete(side)
  }
  const keyed = grouped(sides, ({ operation }) => operation.key?.toLowerCase())
  const ofKey = (row: BooksTransfer) => {
    const own = row.idempotency_key === undefined ? [] : (keyed.get(row.idempotency_key.toLowerCase()) ?? [])
    return own.filter((side) => free.has(side) && isOf(row, side))
  }
  // An order that was sent again under another key has that transfer; the row may still name the key that nothing came of.
  for (const row of rows) {
    const likely = ofKey(row).filter(({ transfer }) => transfer || row.state !== 'done')
    pair(row, nearestOf(row, likely))
  }
  const hashed = new Map(sides.map((side) => [side.transfer?.tx_hash.toLowerCase(), side]))
  for (const row of rows) {
    const side = row.tx_hash === undefined || found.has(row) ? undefined : hashed.get(row.tx_hash.toLowerCase())
    if (side && free.has(side) && isOf(row, side)) pair(row, side)
  }
  // A row that names its portfolio comes first among equally good ones.
  const inOrder = [...rows.filter(namesPortfolio), ...rows.filter((row) => !namesPortfolio(row))]
  const pairAlike = (costs: PairCosts) => {
    const alike = new AlikePairs(
      inOrder.filter((row) => !found.has(row)),
      [...free],
      costs,
    )
    for (const [row, side] of alike.pairs) pair(row, side)
    return alike
  }
  const alike = pairAlike(COSTS)
  for (const row of rows) if (!found.has(row)) pair(row, nearestOf(row, ofKey(row)))
  pairAlike(LAST_COSTS)
  return {
    pairs: rows.map((row) => ({ row, side: found.get(row) })),
    left: [...free],
    choicesOf: ({ row, side }) => alike.choicesOf(row) ?? [side],
  }
}

/** Finds what a row names of that to which one key belongs: a key that had expired carries out another transfer. */
function nearestOf(row: BooksTransfer, sides: readonly LedgerSide[]): LedgerSide | undefined {
  const hash = row.tx_hash?.toLowerCase()
  return (
    sides.find(({ transfer }) => hash !== undefined && transfer?.tx_hash.toLowerCase() === hash) ??
    sides.find((side) => isAt(row, side) && isAskedFor(row, side)) ??
    sides.find((side) => isAt(row, side) && hasAmount(row, side)) ??
    sides[0]
  )
}

/**
 * Costs of a pairing, each above any number of the next one: a finding that the books are wrong; one that they lag; an open row that stands
 * for nothing; a failed one, or a refusal that has no row. What is left are preferences, by which equal books have equal findings.
 */
const WRONG = 2 ** 40
const LAG = 2 ** 30
const OPEN_ALONE = 2 ** 20
const FAILED_ALONE = 2 ** 10
const NOT_AS_ASKED = 4

const ROW_ALONE = { done: WRONG, open: OPEN_ALONE, failed: FAILED_ALONE }

const COSTS: PairCosts = {
  of(row, side) {
    const cost = costOf(row, side) + (isAskedFor(row, side) ? 0 : NOT_AS_ASKED)
    return cost - ROW_ALONE[row.state] - sideAlone(side)
  },
  grain: WRONG,
}

function sideAlone(side: LedgerSide): number {
  if (side.transfer) return WRONG
  return isKnown(side) ? FAILED_ALONE : 0
}

function costOf({ state }: BooksTransfer, side: LedgerSide): number {
  const known = isKnown(side)
  if (side.transfer) return { done: known ? 0 : 1, open: known ? LAG : 0, failed: WRONG + 2 }[state]
  if (isUnderWay(side)) return { done: 0, open: 0, failed: 1 }[state]
  return { done: 2 * WRONG, open: known ? LAG : 1, failed: 0 }[state]
}

/** What costs too much above and is left: a row that is done or open, and an order that was not carried out. */
const LAST_COSTS: PairCosts = { of: ({ state }) => (state === 'done' ? -2 : -1), grain: 1 }

function namesPortfolio({ portfolio_id }: BooksTransfer): boolean {
  return portfolio_id !== undefined
}
