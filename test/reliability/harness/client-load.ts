import { setTimeout as wall } from 'node:timers/promises'
import type { Answer } from '../../helpers/partner.ts'
import { lookUp } from './blocks.ts'
import type { Order } from './client-memory.ts'
import type { HarnessDeps } from './harness-parts.ts'

const CLIENTS = 6
const USERS = 12
const PORTFOLIOS = 5
const POOLS = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']
/** Milliseconds until a client tries again. */
const PAUSE = 20
/** One of so many answered transfers is looked up at once. */
const LOOKED_UP = 4

/** Lets real time pass: not to wait for something, but to strike, or to come back, at a moment nobody chose. */
export function atSomeMoment(milliseconds: number): Promise<void> {
  return wall(milliseconds)
}

/** How a load behaves. */
export interface LoadOptions {
  /** Whether a client that loses its connection tries again under the same key; else it has seen the sandbox die. */
  persistent?: boolean
  /** Milliseconds that a client waits at most before its next order; default: none. */
  pause?: number
}

/** Clients that deposit and withdraw until they are told to stop, or the sandbox is gone. */
export class ClientLoad {
  readonly #deps: HarnessDeps
  readonly #options: LoadOptions
  readonly #running: Promise<void>
  #stopped = false

  /** The parts are looked at anew for each request: they may become those of another start. */
  constructor(deps: HarnessDeps, options: LoadOptions = {}) {
    this.#deps = deps
    this.#options = options
    const clients = Array.from({ length: CLIENTS }, (_, client) => this.#client(client))
    this.#running = Promise.all(clients).then(() => undefined)
  }

  /** Resolves when every client has its last answer, or has lost its connection. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #client(client: number): Promise<void> {
    const { memory, random } = this.#deps
    const { persistent, pause } = this.#options
    const draw = (limit: number) => Math.floor(random.next(`client-${client}`) * limit)
    while (!this.#stopped) {
      const users = memory.users.filter((user) => user.startsWith(`user-${client}-`))
      const user = users[draw(users.length)]
      if (user === undefined || (users.length < USERS / CLIENTS && draw(40) === 0)) {
        if (!(await this.#newUser(`user-${client}-${random.uuid('user')}`)) && !persistent) return
        continue
      }
      const order = await this.#order(user, draw)
      if ((!order || !(await this.place(order))) && !persistent) return
      if (pause) await atSomeMoment(draw(pause))
    }
  }

  async #newUser(external_id: string): Promise<boolean> {
    const answer = await this.#answered(() => this.#deps.acme.post('end_users', { external_id }))
    const made = answer?.status === 201 || answer?.status === 200 // when the first answer was lost
    if (made) this.#deps.memory.users.push(external_id)
    return made
  }

  async #order(user: string, draw: (limit: number) => number): Promise<Order | undefined> {
    const { memory, random } = this.#deps
    const portfolios = memory.portfolios(user)
    const key = random.uuid('key')
    if (portfolios.length === 0 || (portfolios.length < PORTFOLIOS && draw(12) === 0)) {
      const [pool, name] = [POOLS[draw(POOLS.length)]!, `Goal ${draw(1_000)}`]
      const body = await this.#answered(() => this.#deps.acme.portfolioBody(pool, name))
      return body && { key, user, operation: 'portfolios', body }
    }
    const portfolio_id = portfolios[draw(portfolios.length)]!
    if (draw(3) > 0) {
      return { key, user, operation: 'deposit', body: { portfolio_id, amount_minor: String(1 + draw(5_000_000)) } }
    }
    if (draw(4) > 0) {
      return { key, user, operation: 'withdraw', body: { portfolio_id, amount_minor: String(1 + draw(3_000_000)) } }
    }
    const listed = await this.#answered(() => this.#deps.acme.get(`end_users/${user}/portfolios`))
    const whole = listed?.body.data?.find((one: Record<string, string>) => one.portfolio_id === portfolio_id)
    return listed && { key, user, operation: 'withdraw', body: { portfolio_id, amount_minor: amountOf(whole) } }
  }

  /** Sends an order until it is answered, as a client does that is told to come back; false when it will not be. */
  async place(order: Order): Promise<boolean> {
    const { memory, round } = this.#deps
    const { key, user, operation, body } = order
    const answer = await this.#answered(() => this.#deps.acme.post(`end_users/${user}/${operation}`, body, { key }))
    if (!answer) memory.unanswered.push(order)
    else memory.acknowledged.push({ order, status: answer.status, body: answer.body, round })
    if (answer && answer.status >= 500) memory.surprises.push(`${operation}: ${JSON.stringify(answer.body)}`)
    const hash = answer?.body.tx_hash
    if (hash && this.#options.persistent && memory.requests % LOOKED_UP === 0) await lookUp(this.#deps, hash)
    return answer !== undefined
  }

  /** Undefined when the connection is lost, or the load was stopped while the sandbox says to come back. */
  async #answered<A>(ask: () => Promise<A>): Promise<A | undefined> {
    for (;;) {
      this.#deps.memory.requests++
      const answer = await ask().catch(lost)
      if (answer === undefined && !this.#options.persistent) return undefined
      if (answer !== undefined && (answer as Partial<Answer>).status !== 503) return answer
      if (this.#stopped) return undefined
      await atSomeMoment(PAUSE)
    }
  }
}

function lost(): undefined {}

function amountOf(portfolio: Record<string, string> | undefined): string {
  const amount = portfolio?.total_balance ?? '0'
  return amount === '0' ? '1' : amount
}
