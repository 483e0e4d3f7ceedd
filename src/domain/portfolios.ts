import { shorten } from '../support/foreign-text.ts'
import { type Balances, balancesOf } from './balances.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { Ids } from './ids.ts'
import type { Chains } from './ports/chain.ts'
import type { Store, Write } from './ports/store.ts'
import type { EndUser, Pool, Portfolio } from './records.ts'

/** Fields of a new portfolio that the partner chooses. */
export interface PortfolioWish {
  name: string
  description?: string
}

/** A portfolio with the present worth of its position. */
export interface ValuedPortfolio {
  portfolio: Portfolio
  balances: Balances
}

/** The portfolios of every end user. */
export class Portfolios {
  readonly #store: Store
  readonly #chains: Chains
  readonly #clock: SandboxClock
  readonly #ids: Ids

  constructor(parts: { store: Store; chains: Chains; clock: SandboxClock; ids: Ids }) {
    this.#store = parts.store
    this.#chains = parts.chains
    this.#clock = parts.clock
    this.#ids = parts.ids
  }

  /** Creates a portfolio with zero funds, committed together with the writes of `alongside`. */
  async create(
    user: EndUser,
    pool: Pool,
    wish: PortfolioWish,
    alongside: (created: ValuedPortfolio) => Promise<Write[]> = async () => [],
  ): Promise<ValuedPortfolio> {
    const { tenant_id, pool_id, protocol, chain_id, token_symbol, token_decimals, token_address, market_address } = pool
    const now = this.#clock.iso()
    const portfolio: Portfolio = {
      portfolio_id: this.#ids.next('jar'),
      tenant_id,
      end_user_id: user.id,
      pool_id,
      name: wish.name,
      description: wish.description ?? null,
      protocol,
      chain_id,
      token_symbol,
      token_decimals,
      token_address,
      market_address,
      deposited: '0',
      yield_earned_realized: '0',
      yield_earned_synced: '0',
      last_transaction_id: null,
      shares: '0',
      compounding_enabled: true,
      created_at: now,
      updated_at: now,
    }
    const created = { portfolio, balances: balancesOf(portfolio, 0n) }
    await this.#store.commit([{ collection: 'portfolios', put: portfolio }, ...(await alongside(created))])
    return created
  }

  /** Returns the end user's portfolio. Throws Problem portfolio_not_found, also for portfolios of other end users. */
  async require(user: EndUser, portfolioId: string): Promise<Portfolio> {
    const portfolio = await this.#store.get('portfolios', portfolioId)
    if (portfolio && portfolio.end_user_id === user.id) return portfolio
    throw new Problem('portfolio_not_found', {
      detail: `The end user "${user.external_id}" has no portfolio "${shorten(portfolioId)}".`,
      param: 'portfolio_id',
    })
  }

  /** Reads the worth of every portfolio from its chain. */
  async value(portfolios: readonly Portfolio[]): Promise<ValuedPortfolio[]> {
    const values = new Map<Portfolio, bigint>()
    const read = async (chainId: string) => {
      const here = portfolios.filter((portfolio) => portfolio.chain_id === chainId)
      const positions = here.map((portfolio) => ({ pool: poolOf(portfolio), shares: BigInt(portfolio.shares) }))
      const found = (await this.#chains.get(chainId)?.values(positions)) ?? []
      here.forEach((portfolio, i) => {
        values.set(portfolio, found[i] ?? 0n)
      })
    }
    await Promise.all([...new Set(portfolios.map((portfolio) => portfolio.chain_id))].map(read))
    return portfolios.map((portfolio) => ({ portfolio, balances: balancesOf(portfolio, values.get(portfolio) ?? 0n) }))
  }
}

/** The pool that a portfolio was created on; the record holds all its fields. */
export function poolOf(portfolio: Portfolio): Pool {
  const { tenant_id, pool_id, protocol, chain_id, token_symbol, token_decimals, token_address, market_address } =
    portfolio
  return { tenant_id, pool_id, protocol, chain_id, token_symbol, token_decimals, token_address, market_address }
}
