// A partner's application in small, of which right and wrong workers are made: see behaviours.mjs. Needs nothing but Node.
import { randomUUID } from 'node:crypto'

/** An answer that says nothing: there was none, or it cannot be read. */
export const NOTHING = { kind: 'nothing' }

/** The orders of its customers, as its database has them at the start. */
export const ORDERS = [
  { id: 'order-1', type: 'deposit', amount: '250000000' },
  { id: 'order-2', type: 'deposit', amount: '100000000' },
  { id: 'order-3', type: 'withdraw', amount: '50000000' },
]

export const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))

/** One start of the application. What is in `storage` outlives it. */
export class App {
  /** `fetch`: one with connections of its own, where several applications share a process. */
  constructor(env, { storage = {}, orders = ORDERS, user = 'customer-1', fetch = globalThis.fetch } = {}) {
    this.env = env
    this.user = user
    this.fetch = fetch
    this.storage = storage
    storage.orders ??= orders.map((order) => ({ ...order, state: 'open' }))
  }

  get orders() {
    return this.storage.orders
  }

  /** Tokens, the customer and her portfolio: with patience, for that is not what these applications differ in. */
  async setUp() {
    await this.renew()
    if (this.storage.portfolio_id) return
    const { data } = await this.insist('GET', '/pools?limit=100')
    const { chain_id, token_address, market_address, protocol } = data.find(({ pool_id }) => pool_id === 'aave-usdc')
    await this.insist('POST', '/end_users', { body: { external_id: this.user } })
    this.storage.place = { name: 'Savings', chain_id, token_address, market_address, protocol }
    this.storage.portfolio_id = await this.makePortfolio()
  }

  async makePortfolio() {
    const wish = { body: this.storage.place, key: randomUUID() }
    return (await this.insist('POST', `/end_users/${this.user}/portfolios`, wish)).portfolio_id
  }

  /** Both tokens anew. */
  async renew() {
    const { YIELD_AUTH_URL, YIELD_CLIENT_ID, YIELD_CLIENT_SECRET, YIELD_SCOPE, YIELD_CONTROL_URL } = this.env
    const form = { grant_type: 'client_credentials', client_id: YIELD_CLIENT_ID, scope: YIELD_SCOPE }
    const body = new URLSearchParams({ ...form, client_secret: YIELD_CLIENT_SECRET })
    const idp = await this.again(async () => {
      const response = await this.fetch(YIELD_AUTH_URL, { method: 'POST', body })
      // An error has a body in JSON, too, and no token in it.
      if (!response.ok) throw new Error(`no token: ${response.status}`)
      return response.json()
    })
    const own = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const wish = { ...own, body: JSON.stringify({ external_id: this.user }) }
    const minted = await this.fetch(`${YIELD_CONTROL_URL}/tenants/acme/user_tokens`, wish)
    // In its last minute a token is used no more.
    this.staleAt = Date.now() + (idp.expires_in - 60) * 1000
    this.tokens = { authorization: `Bearer ${idp.access_token}`, 'x-user-token': (await minted.json()).token }
  }

  /** Sees to it that the tokens are good for a while. */
  async keepFresh() {
    if (Date.now() >= this.staleAt) await this.renew()
  }

  /** One request, one answer: its kind, status, body and, where it asks for it, how many milliseconds to wait. `over`: not by fetch. */
  async ask(method, path, { body, key, timeout, over } = {}) {
    await this.keepFresh()
    const headers = {
      ...this.tokens,
      ...(key && { 'idempotency-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const url = `${this.env.YIELD_BASE_URL}/v1/partner${path}`
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    let status
    try {
      const signal = timeout ? { signal: AbortSignal.timeout(timeout) } : {}
      const response = await (over ? over(this, url, request) : this.fetch(url, { ...request, ...signal }))
      status = response.status
      const wait = Number(response.headers.get('retry-after') ?? 0) * 1000
      return { kind: kindOf(status), status, wait, body: JSON.parse(await response.text()) }
    } catch (error) {
      return { ...NOTHING, status, late: error.name === 'TimeoutError' }
    }
  }

  /** Asks until there is a good answer. */
  async insist(method, path, wish) {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.ask(method, path, wish)
      if (answer.kind === 'done') return answer.body
      if (answer.kind === 'denied') await this.renew()
      if (attempt === 20 || answer.kind === 'refused')
        throw Object.assign(new Error(`${method} ${path}: ${answer.status ?? 'no answer'}`), { status: answer.status })
      await pause(answer.wait || 10 * attempt)
    }
  }

  async again(action) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await action()
      } catch (error) {
        if (attempt === 10) throw error
        await pause(10 * attempt)
      }
    }
  }

  /** Sends an order once. */
  transfer(order, key, { amount = order.amount, ...wish } = {}) {
    const body = { portfolio_id: this.storage.portfolio_id, amount_minor: amount }
    return this.ask('POST', `/end_users/${this.user}/${order.type}`, { ...wish, key, body })
  }

  /** The customer's transactions; all of them, page by page. When a cursor has expired it begins again. */
  async statement(limit = 100) {
    const all = []
    let cursor = ''
    do {
      const path = `/end_users/${this.user}/transactions?limit=${limit}${cursor && `&starting_after=${cursor}`}`
      const page = await this.insist('GET', path).catch((error) =>
        error.status === 410 ? undefined : Promise.reject(error),
      )
      if (page === undefined) return this.statement(limit)
      all.push(...page.data)
      cursor = page.has_more ? page.next_cursor : ''
    } while (cursor)
    return all
  }

  /** Transactions like this order's. */
  async listed(order, limit) {
    const type = order.type === 'deposit' ? 'deposit' : 'withdrawal'
    return (await this.statement(limit)).filter((one) => one.type === type && one.amount_changed === order.amount)
  }

  /** What the customer has put in, by the list of her portfolios. */
  async balance() {
    const { data } = await this.insist('GET', `/end_users/${this.user}/portfolios?limit=100`)
    return BigInt(data.find(({ portfolio_id }) => portfolio_id === this.storage.portfolio_id).deposited)
  }

  /** How many logs of the token move this amount. */
  async onChain(amount) {
    const filter = { fromBlock: '0x0', toBlock: 'latest', address: this.storage.place.token_address }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const { result } = await this.again(async () => (await this.fetch(this.env.YIELD_RPC_URL, init)).json())
    return result.filter(({ data }) => data.length === 66 && BigInt(data) === BigInt(amount)).length
  }
}

function kindOf(status) {
  if (status < 300) return 'done'
  if (status === 401 || status === 403) return 'denied'
  if (status === 429) return 'limited'
  return status >= 500 ? 'failure' : 'refused'
}
