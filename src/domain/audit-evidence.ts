import { type AuditEvidence, bookedShares, type Holding, type TokenBalance } from './audit-checks.ts'
import { type Portfolios, poolOf, type ValuedPortfolio } from './portfolios.ts'
import type { ChainObserver, TransactionOutcome } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { EndUser, Hex, Pool, Portfolio, Tenant, Transaction } from './records.ts'
import { allOf } from './walk.ts'

/** The ledger's records of one end user. */
export interface LedgerSnapshot {
  user: EndUser
  name: string
  /** Number of transactions before anything else was read. */
  count: number
  pools: readonly Pool[]
  portfolios: Portfolio[]
  /** Newest first. */
  transactions: Transaction[]
}

/** Share of a transaction's amount that leaves the wallet. Yield is earned and stays in the market. */
const OUT_OF_WALLET = { deposit: 1n, withdrawal: -1n, yield_harvest: 0n } as const

/** A holding whose worth has not been read yet. */
type Held = Omit<Holding, 'shown' | 'worth'>

/** Reads the ledger's records of one end user; `pools` are the tenant's. */
export async function readLedger(
  store: Store,
  tenant: Tenant,
  pools: readonly Pool[],
  user: EndUser,
): Promise<LedgerSnapshot> {
  const count = await store.count('transactions', user.id)
  const portfolios = await allOf(store, 'portfolios', user.id)
  const transactions = await allOf(store, 'transactions', user.id)
  return { user, name: nameOf(user, tenant), count, pools, portfolios, transactions }
}

/** Name of an end user in reports, with the tenant: two tenants may use one `external_id`. */
export function nameOf({ external_id }: EndUser, { slug }: Tenant): string {
  return `${external_id} (${slug})`
}

/** Reads the chains for all of these end users together, in a constant number of round trips. */
export async function hearOn(
  books: readonly LedgerSnapshot[],
  { observer, portfolios }: { observer: ChainObserver; portfolios: Portfolios },
): Promise<AuditEvidence[]> {
  const heard = await Promise.all(
    books.map((book) =>
      Promise.all([holdingsOf(book, observer), tokenBalancesOf(book, observer), outcomesOf(book, observer)]),
    ),
  )
  const wholes = new Map<Held, Portfolio>()
  for (const held of heard.flatMap(([holdings]) => holdings)) {
    const [portfolio] = held.portfolios
    if (portfolio) wholes.set(held, { ...portfolio, shares: sharesWithoutGifts(held).toString() })
  }
  // The values that the API answers with; parts and whole are read at one moment.
  const parts = [...wholes.keys()].flatMap(({ portfolios }) => portfolios.filter(({ shares }) => BigInt(shares) >= 0n))
  const valued = await portfolios.value([...parts, ...wholes.values()])
  const values = new Map(valued.map((one) => [one.portfolio, one]))
  return books.map(({ name, portfolios, transactions }, i) => {
    const [held = [], balances = [], outcomes = new Map()] = heard[i] ?? []
    const holdings = held.map((holding) => shownOf(holding, wholes.get(holding), values))
    return { name, portfolios, transactions, holdings, balances, outcomes }
  })
}

function sharesWithoutGifts({ portfolios, shares }: Held): bigint {
  const booked = bookedShares(portfolios)
  return booked >= 0n && booked < shares ? booked : shares
}

function shownOf(held: Held, whole: Portfolio | undefined, values: ReadonlyMap<Portfolio, ValuedPortfolio>): Holding {
  const worth = whole && values.get(whole)
  const shown = held.portfolios.flatMap((portfolio) => values.get(portfolio) ?? [])
  return { ...held, shown, worth: BigInt(worth?.balances.total_balance ?? 0) }
}

/** Reads every market of the tenant, also those where the end user has no portfolio: there the wallet should hold nothing. */
function holdingsOf({ user, pools, portfolios }: LedgerSnapshot, observer: ChainObserver): Promise<Held[]> {
  const markets = new Map([...pools, ...portfolios.map(poolOf)].map((pool) => [marketOf(pool), pool]))
  const holdings = [...markets].map(async ([market, pool]) => ({
    pool_id: pool.pool_id,
    portfolios: portfolios.filter((portfolio) => marketOf(portfolio) === market),
    shares: await observer.holding(pool, user.wallet_address),
  }))
  return Promise.all(holdings)
}

function tokenBalancesOf(
  { user, pools, portfolios, transactions }: LedgerSnapshot,
  observer: ChainObserver,
): Promise<TokenBalance[]> {
  const tokens = new Map(portfolios.map((portfolio) => [portfolio.portfolio_id, tokenOf(portfolio)]))
  const balances = user.funded.map(async (funded) => {
    const spent = transactions
      .filter(({ portfolio_id }) => tokens.get(portfolio_id) === tokenOf(funded))
      .reduce((sum, { type, amount_changed }) => sum + BigInt(amount_changed) * OUT_OF_WALLET[type], 0n)
    return {
      token_symbol: pools.find((pool) => tokenOf(pool) === tokenOf(funded))?.token_symbol ?? funded.token_address,
      funded: BigInt(funded.amount),
      spent,
      balance: await observer.balance(funded.chain_id, funded.token_address, user.wallet_address),
    }
  })
  return Promise.all(balances)
}

/** Leaves out transactions without a portfolio, since their chain is unknown. {@link checkPrincipal} reports them. */
async function outcomesOf(
  { portfolios, transactions }: LedgerSnapshot,
  observer: ChainObserver,
): Promise<ReadonlyMap<Hex, TransactionOutcome>> {
  const chains = new Map(portfolios.map(({ portfolio_id, chain_id }) => [portfolio_id, chain_id]))
  const outcomes = transactions.map(async ({ portfolio_id, tx_hash }) => {
    const chainId = chains.get(portfolio_id)
    return [tx_hash, chainId === undefined ? 'unknown' : await observer.outcome(chainId, tx_hash)] as const
  })
  return new Map(await Promise.all(outcomes))
}

function marketOf({ chain_id, market_address, token_address }: Pool | Portfolio): string {
  return `${chain_id}/${market_address}/${token_address}`
}

function tokenOf({ chain_id, token_address }: Pick<Pool, 'chain_id' | 'token_address'>): string {
  return `${chain_id}/${token_address}`
}
