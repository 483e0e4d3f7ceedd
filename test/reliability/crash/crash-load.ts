import { setTimeout as wall } from 'node:timers/promises'
import type { Answer } from '../../helpers/partner.ts'
import type { Order } from './crash-memory.ts'
import type { CrashParts } from './crash-parts.ts'

const CLIENTS = 6
const USERS = 12
const PORTFOLIOS = 5
const NOBODYS = `0x${'ab'.repeat(20)}`
const POOLS = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']

/** Lets real time pass: not to wait for something, but to strike, or to come back, at a moment nobody chose. */
export function atSomeMoment(milliseconds: number): Promise<void> {
  return wall(milliseconds)
}

/** What a load works on. */
export interface LoadParts extends CrashParts {
  /** Whether business time may be moved: kept responses expire after a day of it. */
  mayMoveClock: boolean
}

/** Clients that deposit and withdraw until they are told to stop, or the sandbox is gone. */
export class CrashLoad {
  readonly #parts: LoadParts
  readonly #running: Promise<void>
  #stopped = false

  constructor(parts: LoadParts) {
    this.#parts = parts
    const clients = Array.from({ length: CLIENTS }, (_, client) => this.#client(client))
    this.#running = Promise.all([...clients, this.#operator()]).then(() => undefined)
  }

  /** Resolves when every client has its last answer, or has lost its connection. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #client(client: number): Promise<void> {
    const { memory, random } = this.#parts
    const draw = (limit: number) => Math.floor(random.next(`client-${client}`) * limit)
    while (!this.#stopped) {
      const users = memory.users.filter((user) => user.startsWith(`user-${client}-`))
      const user = users[draw(users.length)]
      if (user === undefined || (users.length < USERS / CLIENTS && draw(40) === 0)) {
        if (!(await this.#newUser(`user-${client}-${random.uuid('user')}`))) return
        continue
      }
      const order = await this.#order(user, draw)
      if (!order || !(await this.place(order))) return
    }
  }

  async #newUser(external_id: string): Promise<boolean> {
    const answer = await this.#answered(() => this.#parts.acme.post('end_users', { external_id }))
    if (answer?.status === 201) this.#parts.memory.users.push(external_id)
    return answer?.status === 201
  }

  async #order(user: string, draw: (limit: number) => number): Promise<Order | undefined> {
    const { acme, memory, random } = this.#parts
    const portfolios = memory.portfolios(user)
    const key = random.uuid('key')
    if (portfolios.length === 0 || (portfolios.length < PORTFOLIOS && draw(12) === 0)) {
      const pool = POOLS[draw(POOLS.length)]!
      const body = await this.#answered(() => acme.portfolioBody(pool, `Goal ${draw(1_000)}`).catch(lost))
      return body && { key, user, operation: 'portfolios', body }
    }
    const portfolio_id = portfolios[draw(portfolios.length)]!
    if (draw(3) > 0) {
      return { key, user, operation: 'deposit', body: { portfolio_id, amount_minor: String(1 + draw(5_000_000)) } }
    }
    if (draw(4) > 0) {
      return { key, user, operation: 'withdraw', body: { portfolio_id, amount_minor: String(1 + draw(3_000_000)) } }
    }
    const listed = await this.#answered(() => acme.get(`end_users/${user}/portfolios`))
    const whole = listed?.body.data?.find((one: Record<string, string>) => one.portfolio_id === portfolio_id)
    return listed && { key, user, operation: 'withdraw', body: { portfolio_id, amount_minor: amountOf(whole) } }
  }

  /** Sends an order until it is answered, as a client does that is told to come back; false when the connection is lost. */
  async place(order: Order): Promise<boolean> {
    const { acme, memory, round } = this.#parts
    const { key, user, operation, body } = order
    const answer = await this.#answered(() => acme.post(`end_users/${user}/${operation}`, body, { key }))
    if (answer) memory.acknowledged.push({ order, status: answer.status, body: answer.body, round })
    else memory.unanswered.push(order)
    return answer !== undefined
  }

  /** Undefined when the connection is lost, or the load was stopped while the sandbox says to come back. */
  async #answered<A>(ask: () => Promise<A>): Promise<A | undefined> {
    for (;;) {
      const answer = await ask().catch(lost)
      if ((answer as Answer | undefined)?.status !== 503) return answer
      if (this.#stopped) return undefined
      await atSomeMoment(20)
    }
  }

  /** Moves the clock, and uses Anvil's own methods, now and then. */
  async #operator(): Promise<void> {
    const { control, random, mayMoveClock } = this.#parts
    const draw = (limit: number) => Math.floor(random.next('operator') * limit)
    while (!this.#stopped) {
      await atSomeMoment(draw(400))
      const what = draw(5)
      if (what === 0) await this.#rpc('evm_mine').catch(lost)
      else if (what === 1) await this.#rpc('anvil_setBalance', NOBODYS, `0x${draw(1_000_000).toString(16)}`).catch(lost)
      else if (mayMoveClock) await control.moveClock({ advance: `${1 + draw(180)}s` }).catch(lost)
    }
  }

  async #rpc(method: string, ...params: unknown[]): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    await fetch(this.#parts.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
}

function lost(): undefined {}

function amountOf(portfolio: Record<string, string> | undefined): string {
  const amount = portfolio?.total_balance ?? '0'
  return amount === '0' ? '1' : amount
}
