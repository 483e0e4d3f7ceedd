import { type BalanceChange, balanceChange, balancesOf } from './balances.ts'
import type { Chain } from './ports/chain.ts'
import type { HarvestQuote, Pool, Portfolio, Transaction } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'

/**
 * Reads what a `yield_harvest` before the next transfer is to say. It is kept with the signed transfer, so that a restart
 * records the same. Throws ChainUnavailableError.
 */
export async function quoteHarvest(
  chain: Chain,
  pool: Pool,
  { protocols: [aave] }: ServiceSettings,
): Promise<Omit<HarvestQuote, 'id'>> {
  const { apy, price_usd } = await chain.market(pool)
  return { fx_rate_usd: price_usd, aave_apy: pool.protocol === aave ? apy : null }
}

/** What a `yield_harvest` says that its transfer does not. */
type HarvestedYield = BalanceChange & HarvestQuote & Pick<Transaction, 'type' | 'amount_changed' | 'idempotency_id'>

/**
 * The yield a portfolio earned from its last record up to a transfer; undefined if it earned none. `worth` is that of its
 * position directly before the transfer, in minor units.
 */
export function harvestedYield(portfolio: Portfolio, worth: bigint, quote: HarvestQuote): HarvestedYield | undefined {
  const change = balanceChange(portfolio, balancesOf(portfolio, worth))
  if (BigInt(change.yield_delta) <= 0n) return undefined
  return { ...quote, type: 'yield_harvest', amount_changed: change.yield_delta, ...change, idempotency_id: null }
}
