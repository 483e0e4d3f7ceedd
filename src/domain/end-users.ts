import { shorten } from '../support/foreign-text.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { Ids } from './ids.ts'
import type { Chains, WalletFunding } from './ports/chain.ts'
import type { Store } from './ports/store.ts'
import type { EndUser, Funded, Pool, Tenant } from './records.ts'

/** Initial balance of a new wallet: tokens in minor units by symbol; a symbol left out gets the default. */
export type WalletBalance = Record<string, bigint>

/** Default initial balance of a new wallet, in whole tokens of every kind. Assumption `wallet`. */
export const DEFAULT_WALLET_TOKENS = 1_000_000n

/** The end users of every tenant and their wallets. */
export class EndUsers {
  /** Creations under way, by tenant and external_id: a second request for the same end user gets the first one's result. */
  readonly #creating = new Map<string, Promise<EndUser>>()
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

  /** Returns the tenant's end user. Throws Problem end_user_not_found. spec: endpoint 3, rule 4 */
  async require(tenant: Tenant, externalId: string): Promise<EndUser> {
    const user = this.#find(tenant, externalId)
    if (user) return user
    throw new Problem('end_user_not_found', {
      detail: `The tenant ${tenant.slug} has no end user "${shorten(externalId)}"; create it with POST /v1/partner/end_users.`,
      param: 'external_id',
    })
  }

  /** Creates the end user and funds its wallet on every chain where the tenant has pools; returns an existing one unchanged. */
  create(tenant: Tenant, externalId: string, balance: WalletBalance = {}): Promise<EndUser> {
    const key = `${tenant.tenant_id}/${externalId}`
    const underWay = this.#creating.get(key)
    if (underWay) return underWay
    const creating = this.#create(tenant, externalId, balance).finally(() => this.#creating.delete(key))
    this.#creating.set(key, creating)
    return creating
  }

  /**
   * Creates end users that nobody else knows yet, in one write, with ids in the order given. Their wallets are funded together: the
   * chain is asked once for all of them.
   */
  async createTogether(
    tenant: Tenant,
    wishes: readonly { external_id: string; wallet_balance: WalletBalance }[],
  ): Promise<EndUser[]> {
    const funded = await Promise.all(wishes.map((wish) => this.#fund(tenant, wish.external_id, wish.wallet_balance)))
    const users = wishes.map(({ external_id }, i) => this.#recordOf(tenant, external_id, funded[i] ?? []))
    await this.#store.commit(users.map((user) => ({ collection: 'end_users', put: user })))
    return users
  }

  async #create(tenant: Tenant, externalId: string, balance: WalletBalance): Promise<EndUser> {
    const known = this.#find(tenant, externalId)
    if (known) return known
    const funded = await this.#fund(tenant, externalId, balance)
    const user = this.#recordOf(tenant, externalId, funded)
    await this.#store.commit([{ collection: 'end_users', put: user }])
    return user
  }

  #recordOf({ tenant_id }: Tenant, external_id: string, funded: Funded[]): EndUser {
    const owner = { tenant_id, external_id }
    const wallet_address = this.#chains.walletAddress(owner)
    return { id: this.#ids.next('usr'), ...owner, wallet_address, funded, created_at: this.#clock.iso() }
  }

  #find(tenant: Tenant, externalId: string): EndUser | undefined {
    return this.#store.find('end_users', 'external_id', `${tenant.tenant_id}/${externalId}`)
  }

  async #fund(tenant: Tenant, externalId: string, balance: WalletBalance): Promise<Funded[]> {
    const pools = (await this.#store.page('pools', { scope: tenant.tenant_id, limit: Number.MAX_SAFE_INTEGER })).items
    const owner = { tenant_id: tenant.tenant_id, external_id: externalId }
    const funded = this.#chains.all().map(async (chain) => {
      const { chain_id } = chain
      const given = fundings(
        pools.filter((pool) => pool.chain_id === chain_id),
        balance,
      )
      await chain.fundWallet(owner, given)
      return given.map(({ token_address, amount }) => ({ chain_id, token_address, amount: amount.toString() }))
    })
    return (await Promise.all(funded)).flat()
  }
}

/** One funding per token, with every market that takes the token. */
function fundings(pools: Pool[], balance: WalletBalance): WalletFunding[] {
  const byToken = new Map<string, WalletFunding>()
  for (const pool of pools) {
    const funding = byToken.get(pool.token_address) ?? {
      token_address: pool.token_address,
      amount: balance[pool.token_symbol] ?? DEFAULT_WALLET_TOKENS * 10n ** BigInt(pool.token_decimals),
      spenders: [],
    }
    if (!funding.spenders.includes(pool.market_address)) funding.spenders.push(pool.market_address)
    byToken.set(pool.token_address, funding)
  }
  return [...byToken.values()]
}
