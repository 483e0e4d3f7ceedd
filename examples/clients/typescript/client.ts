import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, OutcomeUnknown } from './errors.ts'
import { Http, type HttpSettings } from './http.ts'
import { mayPass } from './retry.ts'
import type { Page, Pool, Portfolio, Transaction, Transfer } from './types.ts'

/** How long and how often a transfer is looked for in the list once its retries are used up: for a minute. */
const LOOKS = 30
const LOOK_PAUSE_MS = 2000

/** A client of the Yield Portfolio Partner API, for one partner application and all of its end users. */
export class YieldClient {
  readonly #http: Http
  /** Hashes of transfers whose answers came. A service that restarts keeps them, and open keys, in its database. */
  readonly #told = new Set<string>()

  constructor(settings: HttpSettings) {
    this.#http = new Http(settings)
  }

  pools(limit = 100): AsyncGenerator<Pool> {
    return this.#list<Pool>('pools', undefined, limit, (pool) => pool.pool_id)
  }

  async createEndUser(externalId: string): Promise<void> {
    await this.#http.send({ method: 'POST', path: 'end_users', body: { external_id: externalId } })
  }

  /** The pool as the list shows it: `market_address` is not the token's address. */
  createPortfolio(user: string, pool: Pool, name: string, key: string = randomUUID()): Promise<Portfolio> {
    const { chain_id, token_address, market_address, protocol } = pool
    const body = { name, chain_id, token_address, market_address, protocol }
    return this.#http.send({ method: 'POST', path: `${pathOf(user)}/portfolios`, user, key, body })
  }

  portfolios(user: string, limit = 100): AsyncGenerator<Portfolio> {
    return this.#list<Portfolio>(`${pathOf(user)}/portfolios`, user, limit, (portfolio) => portfolio.portfolio_id)
  }

  /** Resolves when it is confirmed. Throws ApiError when it was refused, OutcomeUnknown when nobody can say. */
  deposit(user: string, portfolioId: string, amount: bigint, key: string = randomUUID()): Promise<Transfer> {
    return this.#transfer('deposit', user, portfolioId, amount, key)
  }

  /** As {@link deposit}. */
  withdraw(user: string, portfolioId: string, amount: bigint, key: string = randomUUID()): Promise<Transfer> {
    return this.#transfer('withdraw', user, portfolioId, amount, key)
  }

  /** Newest first. */
  transactions(user: string, limit = 100): AsyncGenerator<Transaction> {
    return this.#list<Transaction>(`${pathOf(user)}/transactions`, user, limit, (transaction) => transaction.id)
  }

  async #transfer(
    type: 'deposit' | 'withdraw',
    user: string,
    portfolioId: string,
    amount: bigint,
    key: string,
  ): Promise<Transfer> {
    const body = { portfolio_id: portfolioId, amount_minor: amount.toString() }
    try {
      // Retries keep the key: whatever became of the first request, the money moves once.
      const transfer = await this.#http.send<Transfer>({
        method: 'POST',
        path: `${pathOf(user)}/${type}`,
        user,
        key,
        body,
      })
      this.#told.add(transfer.tx_hash)
      return transfer
    } catch (error) {
      if (!mayPass(error)) throw error
      const found = await this.#lookUp(type, user, portfolioId, amount).catch((failure: unknown) => {
        throw new OutcomeUnknown(key, failure)
      })
      if (found === undefined) throw new OutcomeUnknown(key, error)
      return found
    }
  }

  /** A transfer like this one that no answer told of. It is listed once it is confirmed: not there yet does not mean never. */
  async #lookUp(
    type: 'deposit' | 'withdraw',
    user: string,
    portfolioId: string,
    amount: bigint,
  ): Promise<Transfer | undefined> {
    for (let look = 0; look < LOOKS; look++) {
      if (look > 0) await sleep(LOOK_PAUSE_MS)
      const newest = await this.#page<Transaction>(`${pathOf(user)}/transactions`, user, 100, null)
      const found = newest.data.find(
        (one) =>
          one.portfolio_id === portfolioId &&
          one.type.startsWith(type) &&
          one.amount_changed === amount.toString() &&
          !this.#told.has(one.tx_hash),
      )
      if (found === undefined) continue
      this.#told.add(found.tx_hash)
      return found
    }
    return undefined
  }

  /** Every item once, page by page; from the first page again when the cursor has expired. */
  async *#list<T>(path: string, user: string | undefined, limit: number, idOf: (item: T) => string): AsyncGenerator<T> {
    const seen = new Set<string>()
    let cursor: string | null = null
    let restarts = 0
    do {
      let page: Page<T>
      try {
        page = await this.#page<T>(path, user, limit, cursor)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'cursor_expired' || ++restarts > 3) throw error
        page = await this.#page<T>(path, user, limit, null)
      }
      for (const item of page.data) {
        if (!seen.has(idOf(item))) yield item
        seen.add(idOf(item))
      }
      cursor = page.next_cursor
    } while (cursor !== null)
  }

  /** Cursors are passed on as they came. */
  #page<T>(path: string, user: string | undefined, limit: number, cursor: string | null): Promise<Page<T>> {
    const query = { limit: String(limit), ...(cursor !== null && { starting_after: cursor }) }
    return this.#http.send({ method: 'GET', path, query, ...(user !== undefined && { user }) })
  }
}

const pathOf = (user: string) => `end_users/${encodeURIComponent(user)}`
