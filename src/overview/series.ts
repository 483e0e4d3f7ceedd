import type { Portfolio, Transaction } from '../domain/records.ts'
import type { MoneyPoint } from './contract.ts'
import type { OperationNumbers } from './join-operations.ts'

/** What a portfolio holds at present, as read from its chain. */
export interface PresentMoney {
  /** ISO 8601 UTC, business time. */
  at: string
  /** Minor units, a digit string. */
  yield_minor: string
}

/** Dependencies of {@link seriesOf}. */
export interface SeriesContext {
  numbers: OperationNumbers
  /** Most points, four at least. Of more transfers than that allows, evenly chosen ones are shown, the last one always. */
  most: number
}

/**
 * Principal and yield of a portfolio over time, from the ledger's records. A transfer changes the principal and leaves the yield as it
 * is (assumption `balance-meaning`: a withdrawal pays out principal and yield in proportion, and yield paid out stays earned), so one
 * record gives the points before and after. Between two transfers the worth of a position grows linearly, but for what the market
 * compounds when others use it.
 * @param transactions of the portfolio, oldest first
 * @param present undefined if the chain cannot be reached
 */
export function seriesOf(
  { created_at, deposited }: Pick<Portfolio, 'created_at' | 'deposited'>,
  transactions: readonly Transaction[],
  present: PresentMoney | undefined,
  { numbers, most }: SeriesContext,
): MoneyPoint[] {
  const transfers = transactions.filter(({ type }) => type !== 'yield_harvest')
  const shown = evenly(transfers, Math.max(1, Math.floor((most - 2) / 2)))
  return [
    { at: created_at, principal_minor: '0', yield_minor: '0', operation_number: null },
    ...shown.flatMap((transfer) => pointsOf(transfer, numbers)),
    ...(present
      ? [{ at: present.at, principal_minor: deposited, yield_minor: present.yield_minor, operation_number: null }]
      : []),
  ]
}

function pointsOf(transfer: Transaction, numbers: OperationNumbers): [MoneyPoint, MoneyPoint] {
  const { created_at, deposited_amount_before, deposited_amount_after, yield_earned_after, tx_hash } = transfer
  const both = {
    at: created_at,
    yield_minor: yield_earned_after,
    operation_number: numbers.ofTransaction(tx_hash),
  }
  return [
    { ...both, principal_minor: deposited_amount_before },
    { ...both, principal_minor: deposited_amount_after },
  ]
}

/** Chooses at most `most` of the items, evenly; the last one is always among them. */
function evenly<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  const step = items.length / most
  return Array.from({ length: most }, (_, i) => items[Math.ceil((i + 1) * step) - 1]).filter(
    (item): item is Item => item !== undefined,
  )
}
