import type { AuditReport } from '../domain/audit-report.ts'
import { ChainUnavailableError, ChainUnsoundError } from '../domain/ports/chain.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Portfolio } from '../domain/records.ts'
import type { EndUserMoney, MoneyOverview, MoneySelection } from './contract.ts'
import type { JudgedOperations } from './judged-operations.ts'
import {
  type ChainReading,
  holdingName,
  type MoneyBook,
  type MoneyLedger,
  type MoneySources,
  marketName,
  readMoneyChains,
  readMoneyLedger,
  type TenantPool,
  walletTokensOf,
} from './read-money.ts'
import { type SeriesContext, seriesOf } from './series.ts'
import { surplusName } from './surplus.ts'
import { totalsOf } from './totals.ts'

/** Dependencies of {@link moneyOverview}. */
export interface MoneyParts extends MoneySources {
  store: Store
  judged: Pick<JudgedOperations, 'numbers' | 'surplus'>
  /** Throws ChainUnavailableError or ChainUnsoundError. */
  audit(): Promise<AuditReport>
}

type Readings = ReadonlyMap<string, ChainReading | string>

/**
 * The money of the end users that match: the ledger's word, then that of every chain, asked in a number of round trips that does not
 * grow with the end users. Where a chain cannot be reached, its values are null.
 */
export async function moneyOverview(parts: MoneyParts, query: MoneySelection): Promise<MoneyOverview> {
  const { store, clock } = parts
  const { numbers, surplus } = parts.judged
  const context = { numbers, most: query.points }
  const ledger = await readMoneyLedger(store, query)
  const [readings, checks] = await Promise.all([readMoneyChains(ledger, parts), query.checks ? checksOf(parts) : null])
  return {
    at: clock.iso(),
    end_users: ledger.books.map((book) => ({
      ...endUserMoney(book, { ledger, readings, context }),
      surplus: surplus.get(surplusName(book.tenant.slug, book.user.external_id)) ?? [],
    })),
    more: ledger.more,
    pools: ledger.pools.map((one) => poolFigures(one, readings)),
    checks,
    unavailable: [...readings].flatMap(([chain_id, reading]) =>
      typeof reading === 'string' ? [{ chain_id, reason: reading }] : [],
    ),
  }
}

/** Counts the audit's checks; null if a chain cannot be audited, which the readings report. */
async function checksOf({ audit }: MoneyParts): Promise<MoneyOverview['checks']> {
  try {
    const { checks } = await audit()
    return { held: checks.filter(({ ok }) => ok).length, all: checks.length }
  } catch (error) {
    if (error instanceof ChainUnavailableError || error instanceof ChainUnsoundError) return null
    throw error
  }
}

interface Shown {
  ledger: MoneyLedger
  readings: Readings
  context: SeriesContext
}

function endUserMoney(book: MoneyBook, { ledger, readings, context }: Shown): Omit<EndUserMoney, 'surplus'> {
  const { tenant, user, portfolios, transactions } = book
  const balances = walletTokensOf(book, ledger.pools).map((token) => {
    const { chain_id, token_symbol, token_decimals, token_address } = token
    const amount = readingOf(readings, chain_id)?.wallets.get(holdingName(user, token))
    return { chain_id, token_symbol, token_decimals, token_address, amount_minor: amount?.toString() ?? null }
  })
  const shown = portfolios.map((portfolio) => {
    const reading = readingOf(readings, portfolio.chain_id)
    const present = reading && presentOf(portfolio, reading)
    const own = transactions.get(portfolio.portfolio_id) ?? []
    return { ...portfolioMoney(portfolio, reading), series: seriesOf(portfolio, own, present, context) }
  })
  const { external_id, wallet_address } = user
  const totals = totalsOf({ portfolios: shown, balances })
  return { tenant: tenant.slug, external_id, wallet_address, balances, portfolios: shown, totals }
}

function portfolioMoney(
  portfolio: Portfolio,
  reading: ChainReading | undefined,
): Omit<EndUserMoney['portfolios'][number], 'series'> {
  const { portfolio_id, name, pool_id, chain_id, token_symbol, token_decimals, deposited } = portfolio
  const balances = reading?.balances.get(portfolio_id)
  return {
    ...{ portfolio_id, name, pool_id, chain_id, token_symbol, token_decimals },
    principal_minor: deposited,
    yield_minor: balances?.yield_earned ?? null,
    balance_minor: balances?.total_balance ?? null,
    apy: reading?.figures.get(marketName(portfolio))?.apy ?? null,
  }
}

function presentOf({ portfolio_id }: Portfolio, { at, balances }: ChainReading) {
  const present = balances.get(portfolio_id)
  return present && { at, yield_minor: present.yield_earned }
}

function poolFigures({ tenant, pool }: TenantPool, readings: Readings): MoneyOverview['pools'][number] {
  const { pool_id, protocol, chain_id, token_symbol, token_decimals, market_address } = pool
  const reading = readingOf(readings, chain_id)
  const figures = reading?.figures.get(marketName(pool))
  return {
    ...{ tenant: tenant.slug, pool_id, protocol, chain_id, token_symbol, token_decimals, market_address },
    apy: figures?.apy ?? null,
    tvl_usd: figures?.tvl_usd ?? null,
    liquidity_minor: reading?.liquidity.get(marketName(pool))?.toString() ?? null,
  }
}

function readingOf(readings: Readings, chainId: string): ChainReading | undefined {
  const reading = readings.get(chainId)
  return typeof reading === 'string' ? undefined : reading
}
