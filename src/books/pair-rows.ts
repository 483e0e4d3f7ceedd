import type { LedgerTransfer } from '../oracle/facts.ts'
import type { ClientOperation } from '../oracle/operation.ts'
import type { Told } from '../oracle/told.ts'
import { grouped } from '../support/maps.ts'
import type { BooksTransfer } from './books.ts'

/** A carried-out transfer, or an operation that none came of; a row of the books can stand for it. */
export interface LedgerSide {
  operation: ClientOperation
  /** Undefined for an operation that was not carried out. */
  transfer: LedgerTransfer | undefined
  told: Told
}

/** A row of the books, and what it stands for. */
export interface BooksPair {
  row: BooksTransfer
  side: LedgerSide | undefined
}

/** Answers after which an app knows what became of its order. */
const KNOWN: readonly Told[] = ['done', 'found', 'refused']

/** Pairs each row with at most one transfer or operation: by its key, else by its hash, else by end user, place, type and amount. */
export function pairRows(
  rows: readonly BooksTransfer[],
  sides: readonly LedgerSide[],
): { pairs: BooksPair[]; left: LedgerSide[] } {
  const free = new Set(sides)
  const found = new Map<BooksTransfer, LedgerSide>()
  const pair = (row: BooksTransfer, side: LedgerSide | undefined) => {
    if (!side) return
    found.set(row, side)
    free.delete(side)
  }
  const keyed = grouped(sides, ({ operation }) => operation.key?.toLowerCase())
  const ofKey = (row: BooksTransfer) =>
    row.idempotency_key === undefined
      ? undefined
      : keyed.get(row.idempotency_key.toLowerCase())?.find((side) => free.has(side) && isOf(row, side))
  // An order that was sent again under another key has that transfer; the row may still name the key that nothing came of.
  for (const row of rows) {
    const side = ofKey(row)
    if (side && (side.transfer || row.state !== 'done')) pair(row, side)
  }
  const hashed = new Map(sides.map((side) => [side.transfer?.tx_hash.toLowerCase(), side]))
  for (const row of rows) {
    const side = row.tx_hash === undefined || found.has(row) ? undefined : hashed.get(row.tx_hash.toLowerCase())
    if (side && free.has(side) && isOf(row, side)) pair(row, side)
  }
  // A row that names its portfolio fits fewer transfers than one that names a pool.
  const inOrder = [...rows.filter(namesPortfolio), ...rows.filter((row) => !namesPortfolio(row))]
  for (const pick of PICKS) {
    const near = grouped([...free].filter(pick.side).sort(pick.order), ({ operation }) => operation.external_id)
    const waiting = inOrder.filter(({ state }) => state === pick.state)
    for (const fits of [isAskedFor, hasAmount]) {
      for (const row of waiting.filter((one) => !found.has(one))) {
        const likely = near.get(row.external_id) ?? []
        pair(
          row,
          likely.find((side) => free.has(side) && isOf(row, side) && isAt(row, side) && fits(row, side)),
        )
      }
    }
  }
  for (const row of rows) if (!found.has(row)) pair(row, ofKey(row))
  return { pairs: rows.map((row) => ({ row, side: found.get(row) })), left: [...free] }
}

interface Pick {
  state: BooksTransfer['state']
  side(side: LedgerSide): boolean
  order(a: LedgerSide, b: LedgerSide): number
}

const asGiven = () => 0
/** @returns true if nobody knows yet whether it is carried out */
export const isUnderWay = ({ operation }: LedgerSide) => operation.state === 'under_way'
const isDone = ({ transfer }: LedgerSide) => transfer !== undefined
const isNotDone = (side: LedgerSide) => !isDone(side) && !isUnderWay(side)
/** @returns true if the client was told of the outcome, or found it */
export const isKnown = ({ told }: LedgerSide) => KNOWN.includes(told)

/**
 * Order in which rows without a known key or hash take equal transfers, so that as many as possible are right: those that are done take
 * what their client was told of, and those that are open what it was not told of.
 */
const PICKS: readonly Pick[] = [
  { state: 'done', side: isDone, order: (a, b) => Number(isKnown(b)) - Number(isKnown(a)) },
  { state: 'open', side: isDone, order: (a, b) => Number(isKnown(a)) - Number(isKnown(b)) },
  { state: 'open', side: isUnderWay, order: asGiven },
  { state: 'done', side: isUnderWay, order: asGiven },
  { state: 'open', side: isNotDone, order: (a, b) => Number(isKnown(a)) - Number(isKnown(b)) },
  { state: 'failed', side: isNotDone, order: asGiven },
  { state: 'failed', side: isUnderWay, order: asGiven },
  { state: 'failed', side: isDone, order: asGiven },
  { state: 'done', side: isNotDone, order: asGiven },
]

/** @returns true if each of two rows fits what the other one stands for, and nothing but likeness paired them */
export function areInterchangeable(one: BooksPair, other: BooksPair): boolean {
  const fits = (row: BooksTransfer, { side }: BooksPair) =>
    side !== undefined && isOf(row, side) && isAt(row, side) && hasAmount(row, side)
  return !isNamed(one) && !isNamed(other) && fits(one.row, other) && fits(other.row, one)
}

function isNamed({ row, side }: BooksPair): boolean {
  const isSame = (a: string | null | undefined, b: string | undefined) => a?.toLowerCase() === b?.toLowerCase()
  return (
    (row.idempotency_key !== undefined && isSame(side?.operation.key, row.idempotency_key)) ||
    (row.tx_hash !== undefined && isSame(side?.transfer?.tx_hash, row.tx_hash))
  )
}

function isOf({ external_id, tenant, type }: BooksTransfer, { operation }: LedgerSide): boolean {
  if (operation.external_id !== external_id || operation.type !== type) return false
  return tenant === undefined || operation.tenant === null || operation.tenant === tenant
}

/** @returns true if the row names the place of the transfer, or no request shows that place */
export function isAt({ pool_id, portfolio_id }: BooksTransfer, { operation, transfer }: LedgerSide): boolean {
  const own = transfer?.portfolio_id ?? operation.portfolio_id
  if (portfolio_id !== undefined) return own === null || own === portfolio_id
  return operation.pool_id === null || operation.pool_id === pool_id
}

function isAskedFor({ amount_minor }: BooksTransfer, { operation }: LedgerSide): boolean {
  return operation.amount_minor !== null && isEqual(operation.amount_minor, amount_minor)
}

function namesPortfolio({ portfolio_id }: BooksTransfer): boolean {
  return portfolio_id !== undefined
}

/** @returns true if the row has the amount that was asked for, or the one that was carried out, or no request shows it */
export function hasAmount({ amount_minor }: BooksTransfer, { operation, transfer }: LedgerSide): boolean {
  const amounts = [operation.amount_minor, transfer?.amount_minor].filter((amount) => typeof amount === 'string')
  return amounts.length === 0 || amounts.some((amount) => isEqual(amount, amount_minor))
}

function isEqual(one: string, other: string): boolean {
  return one.replace(/^0+(?=\d)/, '') === other.replace(/^0+(?=\d)/, '')
}
