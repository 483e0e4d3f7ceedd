import type { LedgerTransfer } from '../oracle/facts.ts'
import type { ClientOperation } from '../oracle/operation.ts'
import type { Told } from '../oracle/told.ts'
import type { BooksTransfer } from './books.ts'

/** A carried-out transfer, or an operation that none came of; a row of the books can stand for it. */
export interface LedgerSide {
  operation: ClientOperation
  /** Undefined for an operation that was not carried out. */
  transfer: LedgerTransfer | undefined
  /** Of the transfer, or the one that was asked for; null if no request shows it. */
  pool_id: string | null
  told: Told
}

/** Answers after which an app knows what became of its order. */
const KNOWN: readonly Told[] = ['done', 'found', 'refused']

/** @returns true if nobody knows yet whether it is carried out */
export const isUnderWay = ({ operation }: LedgerSide) => operation.state === 'under_way'

/** @returns true if the client was told of the outcome, or found it */
export const isKnown = ({ told }: LedgerSide) => KNOWN.includes(told)

/** @returns true if end user and type are those of the row, and the tenant where both name one */
export function isOf({ external_id, tenant, type }: BooksTransfer, { operation }: LedgerSide): boolean {
  if (operation.external_id !== external_id || operation.type !== type) return false
  return tenant === undefined || operation.tenant === null || operation.tenant === tenant
}

/** @returns true if the row names the place of the transfer, or no request shows that place */
export function isAt({ pool_id, portfolio_id }: BooksTransfer, side: LedgerSide): boolean {
  const own = portfolioOf(side)
  if (portfolio_id !== undefined) return own === null || own === portfolio_id
  return side.pool_id === null || side.pool_id === pool_id
}

/** The portfolio of a transfer, or the one that was asked for; null if no request shows it. */
export function portfolioOf({ operation, transfer }: LedgerSide): string | null {
  return transfer?.portfolio_id ?? operation.portfolio_id
}

/** @returns true if the row has the amount that was asked for */
export function isAskedFor({ amount_minor }: BooksTransfer, { operation }: LedgerSide): boolean {
  return operation.amount_minor !== null && digitsOf(operation.amount_minor) === digitsOf(amount_minor)
}

/** @returns true if the row has the amount that was asked for, or the one that was carried out, or no request shows it */
export function hasAmount({ amount_minor }: BooksTransfer, side: LedgerSide): boolean {
  const amounts = amountsOf(side)
  return amounts.length === 0 || amounts.includes(digitsOf(amount_minor))
}

/** The amounts that were asked for and carried out, each once. */
export function amountsOf({ operation, transfer }: LedgerSide): string[] {
  const amounts = [operation.amount_minor, transfer?.amount_minor].filter((amount) => typeof amount === 'string')
  return [...new Set(amounts.map(digitsOf))]
}

/** The same amount without leading zeros. */
export function digitsOf(amount: string): string {
  return amount.replace(/^0+(?=\d)/, '')
}
