import type { Chain, MinedTransfer } from './ports/chain.ts'
import type { HarvestQuote, Pool, Portfolio, Transaction, TransferType } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'

/** The four amounts of a portfolio, digit strings in minor units. */
export interface Balances {
  deposited: string
  yield_earned: string
  yield_earned_realized: string
  total_balance: string
}

/** The amounts of a portfolio whose position is worth `value` now. Assumption `balance-meaning`. */
export function balancesOf(portfolio: Portfolio, value: bigint): Balances {
  return {
    deposited: portfolio.deposited,
    yield_earned: yieldEarned(portfolio, value).toString(),
    yield_earned_realized: portfolio.yield_earned_realized,
    total_balance: value.toString(),
  }
}

/**
 * Returns the portfolio after a mined transfer. A deposit adds principal; a withdrawal takes principal and yield in proportion to
 * the position (assumption `balance-meaning`); the last one takes the rest of both.
 */
export function settle(portfolio: Portfolio, type: TransferType, mined: MinedTransfer): Portfolio {
  const deposited = BigInt(portfolio.deposited)
  const shares = BigInt(portfolio.shares) + (type === 'deposit' ? mined.shares : -mined.shares)
  const principal = type === 'deposit' ? mined.amount : -principalOut(deposited, shares, mined)
  const paidOut = type === 'deposit' ? 0n : atLeastZero(mined.amount + principal)
  return {
    ...portfolio,
    deposited: (deposited + principal).toString(),
    yield_earned_realized: (BigInt(portfolio.yield_earned_realized) + paidOut).toString(),
    shares: shares.toString(),
  }
}

/** The balance fields of a transaction record. */
export type BalanceChange = Pick<
  Transaction,
  'yield_delta' | 'deposited_amount_before' | 'deposited_amount_after' | 'yield_earned_before' | 'yield_earned_after'
>

/** Computes the change from the balances that the previous record left to those that the answer shows, exactly. */
export function balanceChange(before: Portfolio, after: Balances): BalanceChange {
  return {
    yield_delta: (BigInt(after.yield_earned) - BigInt(before.yield_earned_synced)).toString(),
    deposited_amount_before: before.deposited,
    deposited_amount_after: after.deposited,
    yield_earned_before: before.yield_earned_synced,
    yield_earned_after: after.yield_earned,
  }
}

function principalOut(deposited: bigint, sharesLeft: bigint, mined: MinedTransfer): bigint {
  if (sharesLeft <= 0n || mined.value_before === 0n) return deposited
  return (deposited * mined.amount) / mined.value_before
}

/** Rounding on chain may leave a position one minor unit below its principal; that counts as no yield, not as a loss. */
function yieldEarned(portfolio: Portfolio, value: bigint): bigint {
  return atLeastZero(value - BigInt(portfolio.deposited) + BigInt(portfolio.yield_earned_realized))
}

/** Returns the amount, or zero if it is negative. */
export function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount
}

/**
 * Reads the market figures for a `yield_harvest` before the next transfer. They are kept with the signed transfer, so that a
 * restart records the same. Throws ChainUnavailableError.
 */
export async function quoteHarvest(
  chain: Chain,
  pool: Pool,
  { protocols: [aave] }: ServiceSettings,
): Promise<Omit<HarvestQuote, 'id'>> {
  const { apy, price_usd } = await chain.market(pool)
  return { fx_rate_usd: price_usd, aave_apy: pool.protocol === aave ? apy : null }
}

/** The fields of a `yield_harvest` that its transfer does not have. */
type HarvestedYield = BalanceChange & HarvestQuote & Pick<Transaction, 'type' | 'amount_changed' | 'idempotency_id'>

/**
 * Computes the yield that a portfolio earned between its last record and a transfer; undefined if it earned none. `worth` is that
 * of its position directly before the transfer, in minor units.
 */
export function harvestedYield(portfolio: Portfolio, worth: bigint, quote: HarvestQuote): HarvestedYield | undefined {
  const change = balanceChange(portfolio, balancesOf(portfolio, worth))
  if (BigInt(change.yield_delta) <= 0n) return undefined
  return { ...quote, type: 'yield_harvest', amount_changed: change.yield_delta, ...change, idempotency_id: null }
}
