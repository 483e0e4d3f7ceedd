import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Credentials } from '../../src/control/contract.ts'
import type { ListRead, Observation, TransferAttempt } from '../history/recorded-history.ts'
import { unexplained } from '../history/unexplained.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/yield-sandbox.js', import.meta.url))
/** The address of what would stand before the processes. Nothing listens there: these clients ask each process at its own. */
export const PUBLIC = 'http://127.0.0.1:9'

/** How a process of a fleet is started, if not in the usual way. */
interface FleetStart {
  flags?: readonly string[]
  publicUrl?: string
  /** Variables beside those of the test. */
  environment?: Record<string, string>
}

/** One built process of a fleet. */
export class FleetProcess {
  /** Starts it; resolves when it, or another one, serves the default namespace. */
  static async start(
    database: string,
    { flags = [], publicUrl = PUBLIC, environment }: FleetStart = {},
  ): Promise<FleetProcess> {
    const args = [
      'start',
      '--port',
      '0',
      '--fleet-port',
      '0',
      '--public-url',
      publicUrl,
      '--json',
      '--confirmation-delay',
      '0',
    ]
    const child = spawn(process.execPath, [PROGRAM, ...args, ...flags], {
      env: { ...process.env, ...environment, YIELD_SANDBOX_DATABASE: database },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = new FleetProcess(child)
    const lines = createInterface(child.stderr)
    lines.on('line', (line) => {
      started.log.push(line)
      const [, url] = /Server listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(line) ?? []
      if (url) started.#url = url
    })
    const output = createInterface(child.stdout)
    const [first] = await Promise.race([
      once(output, 'line'),
      once(child, 'exit').then(() => {
        throw new Error(`it ended: ${started.log.join('\n')}`)
      }),
    ])
    started.credentials = JSON.parse(first) as Credentials
    return started
  }

  readonly log: string[] = []
  credentials!: Credentials
  #url = ''

  private constructor(readonly child: ChildProcess) {}

  /** Its own address. */
  get url(): string {
    return this.#url
  }

  /** @returns true if its log says that it has the namespace */
  has(namespace: string): boolean {
    const last = this.log.findLast(
      (line) =>
        /serves it no more/.test(line) ||
        (line.includes(`"${namespace}"`) && /has the namespace now|has its stored state now/.test(line)),
    )
    return last?.includes('has the namespace now') ?? false
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  async end(name: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const { child } = this
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(name)
    await exit
    return child.exitCode
  }
}

/**
 * A client that has a record of its own of what it asked and saw: it repeats each transfer, with its key, until it has a final answer, and
 * remembers every attempt.
 */
export class KeyedClient {
  /** Transfers that were answered with 200: ids of their transactions, by key. */
  readonly done = new Map<string, string>()
  readonly history: Observation[] = []
  /** Milliseconds of the longest wait for one. */
  longest = 0
  /** Number of requests that had to be sent again. */
  again = 0
  readonly #urls: () => readonly string[]
  readonly #credentials: Credentials
  readonly #user: string
  #tokens: Record<string, string> | undefined
  #portfolio = ''

  constructor(urls: () => readonly string[], credentials: Credentials, user: string) {
    this.#urls = urls
    this.#credentials = credentials
    this.#user = user
  }

  /** Makes its end user and a portfolio. */
  async open(): Promise<void> {
    await this.#insist('POST', '/v1/partner/end_users', { body: { external_id: this.#user } })
    const pools = await this.#insist('GET', '/v1/partner/pools')
    const { chain_id, token_address, market_address, protocol } = pools.data[0]
    const wanted = { name: 'One', chain_id, token_address, market_address, protocol }
    const made = await this.#insist('POST', `/v1/partner/end_users/${this.#user}/portfolios`, { body: wanted })
    this.#portfolio = made.portfolio_id
  }

  /** A deposit that ends well, however often it has to be asked for. */
  async deposit(amount: number): Promise<void> {
    await this.#transfer('deposit', amount)
  }

  /** The same for a withdrawal. */
  async withdraw(amount: number): Promise<void> {
    await this.#transfer('withdraw', amount)
  }

  /** Looks once at the principal, or at the latest transactions, at any process; an answer is remembered. */
  async look(at: 'principal' | 'transactions', url: string): Promise<void> {
    if (at === 'principal') return void (await this.depositedAt(url))
    const begin = performance.now()
    const page = await this.#ask(url, 'transactions?limit=3')
    if (typeof page === 'object')
      this.#seeTransactions(page.data, { begin, end: performance.now(), whole: !page.has_more })
  }

  /** One look at its portfolio: what it holds, the status of a refusal, or that there was no answer. */
  async depositedAt(url: string): Promise<string | number> {
    const begin = performance.now()
    const answer = await this.#ask(url, 'portfolios')
    if (typeof answer !== 'object') return answer
    const principal = String(answer.data[0].deposited)
    const [portfolio, end] = [this.#portfolio, performance.now()]
    this.history.push({ kind: 'balance', portfolio, begin, end, principal })
    return principal
  }

  /** Compares the record of that process with its own: nothing is lost, nothing is there twice, and all that it saw can be explained. */
  async expectAllOnce(url: string): Promise<void> {
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
    const found: any[] = []
    const begin = performance.now()
    let end: number | undefined
    let after = ''
    for (let more = true; more; ) {
      const path = `/v1/partner/end_users/${this.#user}/transactions?limit=100${after}`
      const page = await this.#insist('GET', path, { at: [url] })
      end ??= performance.now()
      found.push(...page.data)
      more = page.has_more
      after = `&starting_after=${page.next_cursor}`
    }
    this.#seeTransactions(found, { begin, end: end ?? begin, whole: true })
    await this.depositedAt(url)
    expect(found.map(({ id }) => id).toSorted()).toEqual([...this.done.values()].toSorted())
    expect(unexplained(this.history, this.#portfolio)).toEqual([])
  }

  async #transfer(operation: 'deposit' | 'withdraw', amount: number): Promise<void> {
    const key = randomUUID()
    const began = performance.now()
    const portfolio = this.#portfolio
    const type = operation === 'deposit' ? 'deposit' : 'withdrawal'
    const body = { portfolio_id: portfolio, amount_minor: String(amount) }
    const attempts: TransferAttempt[] = []
    const answer = await this.#insist('POST', `/v1/partner/end_users/${this.#user}/${operation}`, {
      ...{ body, key },
      sent: () => {
        attempts.push({ kind: 'transfer', portfolio, key, type, amount: String(amount), begin: performance.now() })
        this.history.push(...attempts.slice(-1))
      },
    })
    const done = { id: answer.transaction_id, principal: answer.deposited }
    Object.assign(attempts.at(-1) ?? {}, { end: performance.now(), answer: { done } })
    this.longest = Math.max(this.longest, performance.now() - began)
    this.done.set(key, done.id)
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  #seeTransactions(data: any[], seen: Pick<ListRead, 'begin' | 'end' | 'whole'>): void {
    const transactions = data.map(({ id, type, amount_changed, deposited_amount_after }) => {
      return { id, type, amount: amount_changed, principal: deposited_amount_after }
    })
    this.history.push({ kind: 'list', portfolio: this.#portfolio, ...seen, transactions })
  }

  /** Asks once: the body, the status of a refusal, or that there was no answer. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  async #ask(url: string, path: string): Promise<any> {
    try {
      const headers = { ...this.#tokens }
      const signal = AbortSignal.timeout(15_000)
      const answer = await fetch(`${url}/v1/partner/end_users/${this.#user}/${path}`, { headers, signal })
      return answer.ok ? await answer.json() : answer.status
    } catch {
      return 'no answer'
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  async #insist(method: string, path: string, { body, key = randomUUID(), at, sent }: Insisting = {}): Promise<any> {
    for (let turn = 0, renewals = 0; ; turn++) {
      const urls = at ?? this.#urls()
      const url = urls[turn % urls.length]
      try {
        const headers = { ...(await this.#tokensAt(url)), 'content-type': 'application/json', 'idempotency-key': key }
        sent?.()
        const answer = await fetch(`${url}${path}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(15_000),
        })
        const text = await answer.text()
        if (answer.ok) return JSON.parse(text)
        if (answer.status === 409 && path.endsWith('end_users')) return undefined
        if (answer.status === 401 && renewals++ < RENEWALS) this.#tokens = undefined
        else if (answer.status !== 503 && answer.status !== 409)
          throw new Refused(`${method} ${path}: ${answer.status} ${text}`)
      } catch (error) {
        if (error instanceof Refused) throw error
      }
      this.again++
      await sleep(50)
    }
  }

  async #tokensAt(url: string | undefined): Promise<Record<string, string>> {
    if (this.#tokens) return this.#tokens
    const { tenants, scope, control_url, control_token } = this.#credentials
    const [tenant] = tenants
    const { client_id = '', client_secret = '' } = tenant ?? {}
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
    const idp = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form })
    const minted = await fetch(`${url}${new URL(control_url).pathname}/tenants/${tenant?.slug}/user_tokens`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(control_token !== undefined && { authorization: `Bearer ${control_token}` }),
      },
      body: JSON.stringify({ external_id: this.#user }),
    })
    if (!idp.ok || !minted.ok) throw new Error(`tokens: ${idp.status} ${minted.status}`)
    const { access_token } = (await idp.json()) as { access_token: string }
    const { token } = (await minted.json()) as { token: string }
    this.#tokens = { authorization: `Bearer ${access_token}`, 'x-user-token': token }
    return this.#tokens
  }
}

/** Number of times that a request is repeated with new tokens: by the clock of its namespace's next owner they may have expired. */
const RENEWALS = 3

/** A request that is repeated until it is answered well. */
interface Insisting {
  body?: object
  key?: string
  /** Addresses to ask at, in turn, in place of all. */
  at?: string[]
  /** Called when it is sent, each time. */
  sent?(): void
}

class Refused extends Error {}
