import type { ChainObserver } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { EndUser, Portfolio, Tenant, Transaction } from './records.ts'
import { allOf } from './walk.ts'

/** A transfer that a request asked for. */
export interface MoneyTransfer {
  transaction_id: string
  type: 'deposit' | 'withdraw'
  /** Minor units, a digit string. */
  amount_minor: string
  tx_hash: string
}

/** One end user's deposits and transfers in one pool, over all portfolios there. */
export interface PoolMoney {
  pool_id: string
  token_symbol: string
  token_decimals: number
  /**
   * Deposits less withdrawals, those of the fixture included: minor units, a digit string. This is not the ledger's principal, of
   * which a withdrawal takes less the more yield there is by then; the audit checks that one.
   */
  principal: string
  /** Oldest first, without those of the fixture. */
  transfers: MoneyTransfer[]
}

/** A wallet's balance of a token, as read from the chain. */
export interface TokenMoney {
  chain_id: string
  token_symbol: string
  token_decimals: number
  /** Minor units, a digit string. */
  balance: string
}

/** All money of one end user. */
export interface UserMoney {
  /** Slug. */
  tenant: string
  external_id: string
  pools: PoolMoney[]
  wallet: TokenMoney[]
}

/** The money of all end users. */
export interface Money {
  users: UserMoney[]
}

/** Reads the money of all end users that have a portfolio from ledger and chain. Throws ChainUnavailableError. */
export async function readMoney(store: Store, observer: ChainObserver): Promise<Money> {
  const users: Promise<UserMoney>[] = []
  for (const tenant of await allOf(store, 'tenants', 'all')) {
    for (const user of await allOf(store, 'end_users', tenant.tenant_id)) {
      const portfolios = await allOf(store, 'portfolios', user.id)
      if (portfolios.length === 0) continue
      const transactions = await allOf(store, 'transactions', user.id)
      users.push(userMoney({ tenant, user, portfolios, transactions }, observer))
    }
  }
  return { users: await Promise.all(users) }
}

/** The ledger's records of one end user. */
interface Book {
  tenant: Tenant
  user: EndUser
  portfolios: readonly Portfolio[]
  /** Newest first. */
  transactions: readonly Transaction[]
}

async function userMoney(
  { tenant, user, portfolios, transactions }: Book,
  observer: ChainObserver,
): Promise<UserMoney> {
  const pools = new Map<string, PoolMoney>()
  const poolOf = new Map<string, PoolMoney>()
  for (const { portfolio_id, pool_id, token_symbol, token_decimals } of portfolios) {
    const pool = pools.get(pool_id) ?? { pool_id, token_symbol, token_decimals, principal: '0', transfers: [] }
    pools.set(pool_id, pool)
    poolOf.set(portfolio_id, pool)
  }
  for (const { id, type, portfolio_id, amount_changed, tx_hash, idempotency_id } of transactions.toReversed()) {
    const pool = poolOf.get(portfolio_id)
    if (!pool || type === 'yield_harvest') continue
    const moved = BigInt(amount_changed) * (type === 'deposit' ? 1n : -1n)
    pool.principal = String(BigInt(pool.principal) + moved)
    if (idempotency_id === null) continue
    const transfer = type === 'withdrawal' ? 'withdraw' : type
    pool.transfers.push({ transaction_id: id, type: transfer, amount_minor: amount_changed, tx_hash })
  }
  const wallet = await walletOf(user, portfolios, observer)
  return { tenant: tenant.slug, external_id: user.external_id, pools: [...pools.values()], wallet }
}

/** Reads the wallet's balance of each token that the portfolios hold. */
function walletOf(
  { wallet_address }: EndUser,
  portfolios: readonly Portfolio[],
  observer: ChainObserver,
): Promise<TokenMoney[]> {
  const tokens = new Map(portfolios.map((one) => [`${one.chain_id}/${one.token_address}`, one]))
  return Promise.all(
    [...tokens.values()].map(async ({ chain_id, token_symbol, token_decimals, token_address }) => {
      const balance = await observer.balance(chain_id, token_address, wallet_address)
      return { chain_id, token_symbol, token_decimals, balance: balance.toString() }
    }),
  )
}
