import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

/** The first tenant of a sandbox, as a partner's client that keeps its connections. */
export class Tenant {
  #agent = new Agent({ keepAlive: true, noDelay: true })
  #credentials
  #token

  /** Obtains a token. */
  static async connect(credentials) {
    const tenant = new Tenant()
    tenant.#credentials = credentials
    const { auth_url, scope, tenants } = credentials
    const [{ client_id, client_secret }] = tenants
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    const response = await fetch(auth_url, { method: 'POST', body: form })
    tenant.#token = (await response.json()).access_token
    return tenant
  }

  get authorization() {
    return `Bearer ${this.#token}`
  }

  get poolsUrl() {
    return `${this.#credentials.base_url}/v1/partner/pools`
  }

  async pools() {
    return JSON.parse(await this.#send('GET', this.poolsUrl, { authorization: this.authorization }))
  }

  /** An end user, new or known: opens portfolios, and lists transactions. */
  async endUser(externalId) {
    const users = `${this.#credentials.base_url}/v1/partner/end_users`
    await this.#send('POST', users, { authorization: this.authorization }, { external_id: externalId })
    return this.knownUser(externalId)
  }

  /** As {@link endUser}, of one who is there. */
  async knownUser(externalId) {
    const { base_url, control_url, tenants } = this.#credentials
    const url = `${base_url}/v1/partner/end_users/${externalId}`
    const authorized = { authorization: this.authorization }
    const mint = `${control_url}/tenants/${tenants[0].slug}/user_tokens`
    const { token } = JSON.parse(await this.#send('POST', mint, {}, { external_id: externalId }))
    const headers = { ...authorized, 'x-user-token': token }
    return {
      /** A new portfolio in the pool; `deposit` and `withdraw` move so many minor units and give the response's text. */
      portfolio: async ({ chain_id, token_address, market_address, protocol }) => {
        const wish = { name: 'Bench', chain_id, token_address, market_address, protocol }
        const { portfolio_id } = JSON.parse(await this.#send('POST', `${url}/portfolios`, headers, wish))
        const move = (operation) => (amount) =>
          this.#send('POST', `${url}/${operation}`, headers, { portfolio_id, amount_minor: String(amount) })
        return { deposit: move('deposit'), withdraw: move('withdraw') }
      },
      portfolios: async () => JSON.parse(await this.#send('GET', `${url}/portfolios`, headers)),
      deposit: (portfolio_id, amount) =>
        this.#send('POST', `${url}/deposit`, headers, { portfolio_id, amount_minor: String(amount) }),
      transactions: async (query) =>
        JSON.parse(await this.#send('GET', `${url}/transactions?${new URLSearchParams(query)}`, headers)),
    }
  }

  /** A new end user's portfolio in the pool. */
  async saver(externalId, pool) {
    return (await this.endUser(externalId)).portfolio(pool)
  }

  reset() {
    return this.#send('POST', `${this.#credentials.control_url}/reset`)
  }

  close() {
    this.#agent.destroy()
  }

  #send(method, url, headers = {}, body) {
    const payload = body && JSON.stringify(body)
    const typed = payload && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
      'idempotency-key': randomUUID(),
    }
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, agent: this.#agent, headers: { ...headers, ...typed } }, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode < 300) resolve(text)
          else reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`))
        })
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  }
}
