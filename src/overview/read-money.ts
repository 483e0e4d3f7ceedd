import { type Balances, balancesOf } from '../domain/balances.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { poolOf } from '../domain/portfolios.ts'
import {
  type Chain,
  type ChainObserver,
  type Chains,
  ChainUnavailableError,
  ChainUnsoundError,
  type MarketFigures,
} from '../domain/ports/chain.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Address, EndUser, Pool, Portfolio, Tenant, Transaction } from '../domain/records.ts'
import { allOf, pagesOf } from '../domain/walk.ts'
import { grouped } from '../support/maps.ts'
import type { MoneySelection } from './contract.ts'

/** The ledger's records of one end user. */
export interface MoneyBook {
  tenant: Tenant
  user: EndUser
  portfolios: Portfolio[]
  /** By portfolio, oldest first. */
  transactions: ReadonlyMap<string, Transaction[]>
}

/** A pool and its tenant. */
export interface TenantPool {
  tenant: Tenant
  pool: Pool
}

/** All that the ledger says for an overview. */
export interface MoneyLedger {
  books: MoneyBook[]
  /** Number of further end users that match. */
  more: number
  /** Of every tenant. */
  pools: TenantPool[]
}

/** Reads the records of at most `limit` end users that match. */
export async function readMoneyLedger(
  store: Store,
  { limit, tenant: slug, external_id }: Pick<MoneySelection, 'limit' | 'tenant' | 'external_id'>,
): Promise<MoneyLedger> {
  const ledger: MoneyLedger = { books: [], more: 0, pools: [] }
  for (const tenant of await allOf(store, 'tenants', 'all')) {
    for (const pool of await allOf(store, 'pools', tenant.tenant_id)) ledger.pools.push({ tenant, pool })
    if (slug !== undefined && slug !== tenant.slug) continue
    for await (const user of usersOf(store, tenant, external_id)) {
      if (ledger.books.length < limit) ledger.books.push(await bookOf(store, tenant, user))
      else ledger.more++
    }
  }
  return ledger
}

async function* usersOf(store: Store, { tenant_id }: Tenant, externalId: string | undefined): AsyncGenerator<EndUser> {
  if (externalId === undefined) {
    for await (const users of pagesOf(store, 'end_users', tenant_id)) yield* users
    return
  }
  const user = store.find('end_users', 'external_id', `${tenant_id}/${externalId}`)
  if (user) yield user
}

async function bookOf(store: Store, tenant: Tenant, user: EndUser): Promise<MoneyBook> {
  const portfolios = await allOf(store, 'portfolios', user.id)
  const transactions = (await allOf(store, 'transactions', user.id)).reverse()
  return { tenant, user, portfolios, transactions: grouped(transactions, ({ portfolio_id }) => portfolio_id) }
}

/** Values of one chain at its present. */
export interface ChainReading {
  /** ISO 8601 UTC, business time. */
  at: string
  /** By portfolio. */
  balances: ReadonlyMap<string, Balances>
  /** By {@link marketName}. */
  figures: ReadonlyMap<string, MarketFigures>
  /** Tokens that can be withdrawn, by {@link marketName}. */
  liquidity: ReadonlyMap<string, bigint | null>
  /** Minor units by {@link holdingName}. */
  wallets: ReadonlyMap<string, bigint>
}

/** Dependencies of {@link readMoneyChains}. */
export interface MoneySources {
  chains: Chains
  observer: ChainObserver
  clock: SandboxClock
}

/**
 * Reads every chain with the pools and portfolios of a ledger, all questions to a chain together. A chain that cannot be reached, or
 * whose answers make no sense, is answered by the reason.
 */
export async function readMoneyChains(
  ledger: MoneyLedger,
  sources: MoneySources,
): Promise<ReadonlyMap<string, ChainReading | string>> {
  const readings = sources.chains.all().map(async (chain) => {
    const reading = await readChain(chain, ledger, sources).catch((error: unknown) => {
      if (error instanceof ChainUnavailableError || error instanceof ChainUnsoundError) return whyUnreadable(error)
      throw error
    })
    return [chain.chain_id, reading] as const
  })
  return new Map(await Promise.all(readings))
}

async function readChain(
  chain: Chain,
  { books, pools }: MoneyLedger,
  { observer, clock }: MoneySources,
): Promise<ChainReading> {
  const { chain_id } = chain
  const isHere = (one: { chain_id: string }) => one.chain_id === chain_id
  const portfolios = books.flatMap((book) => book.portfolios).filter(isHere)
  const markets = new Map(
    [...pools.map(({ pool }) => pool).filter(isHere), ...portfolios.map(poolOf)].map((pool) => [
      marketName(pool),
      pool,
    ]),
  )
  const holdings = books.flatMap((book) =>
    walletTokensOf(book, pools)
      .filter(isHere)
      .map((token) => ({ book, token })),
  )
  const [values, figures, liquidity, wallets] = await Promise.all([
    chain.values(portfolios.map((portfolio) => ({ pool: poolOf(portfolio), shares: BigInt(portfolio.shares) }))),
    valuesOf(markets, (pool) => chain.market(pool)),
    valuesOf(markets, (pool) => chain.liquidity(pool)),
    Promise.all(
      holdings.map(async ({ book: { user }, token: { token_address } }) => {
        const balance = await observer.balance(chain_id, token_address, user.wallet_address)
        return [holdingName(user, { chain_id, token_address }), balance] as const
      }),
    ),
  ])
  const balances = portfolios.map(
    (portfolio, i) => [portfolio.portfolio_id, balancesOf(portfolio, values[i] ?? 0n)] as const,
  )
  return { at: clock.iso(), balances: new Map(balances), figures, liquidity, wallets: new Map(wallets) }
}

async function valuesOf<Value>(
  markets: ReadonlyMap<string, Pool>,
  read: (pool: Pool) => Promise<Value>,
): Promise<ReadonlyMap<string, Value>> {
  return new Map(await Promise.all([...markets].map(async ([name, pool]) => [name, await read(pool)] as const)))
}

/** The tokens that an end user's wallet may hold: those of its tenant's pools, and of its own portfolios. */
export function walletTokensOf({ tenant, portfolios }: MoneyBook, pools: readonly TenantPool[]): Token[] {
  const own = pools.filter((one) => one.tenant.tenant_id === tenant.tenant_id).map(({ pool }) => pool)
  const all = [...own, ...portfolios]
  return [...new Map(all.map((one) => [`${one.chain_id}/${one.token_address}`, one])).values()]
}

type Token = Pick<Pool, 'chain_id' | 'token_symbol' | 'token_decimals' | 'token_address'>

/** Name of a market in a {@link ChainReading}. */
export function marketName({ protocol, market_address, token_address }: Pool | Portfolio): string {
  return `${protocol}/${market_address}/${token_address}`
}

/** Name of a wallet's holding of a token in a {@link ChainReading}. */
export function holdingName(
  { wallet_address }: EndUser,
  { chain_id, token_address }: { chain_id: string; token_address: Address },
): string {
  return `${wallet_address}/${chain_id}/${token_address}`
}

function whyUnreadable(error: ChainUnavailableError | ChainUnsoundError): string {
  return error instanceof ChainUnavailableError ? error.reason : error.message
}
