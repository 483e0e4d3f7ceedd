import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { onTestFinished } from 'vitest'
import { SeededRandom } from '../../src/support/random.ts'
import { bundled } from '../data-dir/child-process.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { CuttingProxy } from '../helpers/cutting-proxy.ts'
import type { BalanceRead, ListRead, Observation, TransferAttempt } from '../history/recorded-history.ts'
import { unexplained } from '../history/unexplained.ts'
import { type BankAnswer, BankProcess } from './bank-process.ts'
import type { HaltPoint } from './bank-words.ts'
import type { PlantedFault } from './planted-faults.ts'
import { ownConnection } from './rows.ts'

/** Milliseconds: short, so that a process that stands still loses its namespace soon. */
const LEASE_MS = 300
/** Milliseconds that a client waits for an answer before it asks the other process. */
const PATIENCE_MS = 150
const LIMIT_MS = 30_000
const CLIENTS = 3

/**
 * What becomes of the owner in a round:
 * - `stop`: it stands still, wherever it is, until another one has taken the namespace and answered
 * - `sending`, `stored`, `checked`: the same, at this point
 * - `twice`: as `sending`, and a failover of the database gives its epoch out again
 * - `kill`: it is killed
 * - `ahead`, `behind`: its wall clock is an hour off for a while
 * - `cut`: its connections are cut, while what was sent on them goes on
 */
export const ROUNDS = ['stop', 'sending', 'stored', 'checked', 'twice', 'kill', 'ahead', 'behind', 'cut'] as const
export type RoundKind = (typeof ROUNDS)[number]

/** Requests of a round, and what is wrong with it, in sentences. */
export interface RoundResult {
  history: Observation[]
  wrong: string[]
}

/** A database, and how it is struck. */
export interface BankSetup {
  /** Address of the database at a port. */
  url(port: number): string
  port: number
  seed: number
  fault?: PlantedFault | ''
  /** Milliseconds within which what must happen in a round happens; default: 30 s, for a busy machine. */
  limitMs?: number
}

/** Two processes that compete for a namespace, and clients that remember what they asked and were answered. */
export class BankRounds {
  static async start(setup: BankSetup): Promise<BankRounds> {
    const { url, port, fault = '' } = setup
    const script = await bundled('../database/bank-child.ts', temporaryDirectory())
    const client = await ownConnection(url(port))
    const proxies = [await CuttingProxy.before(port), await CuttingProxy.before(port)]
    const start = (proxy: CuttingProxy) => new BankProcess(script, [url(proxy.port), String(LEASE_MS), fault])
    const rounds = new BankRounds(setup, { client, proxies, start })
    onTestFinished(() => rounds.#end())
    return rounds
  }

  readonly #parts: BankParts
  readonly #random: SeededRandom
  readonly #limitMs: number
  readonly #processes: BankProcess[]
  #round = 0
  #history: Observation[] = []
  #wrong: string[] = []
  /** Acknowledged transfers of the round, by process. */
  #acknowledged = new Map<BankProcess, number>()
  #paused = false

  private constructor({ seed, limitMs = LIMIT_MS }: BankSetup, parts: BankParts) {
    this.#parts = parts
    this.#random = new SeededRandom(seed)
    this.#limitMs = limitMs
    this.#processes = parts.proxies.map(parts.start)
  }

  /** Plays a round and checks its history. */
  async play(kind: RoundKind): Promise<RoundResult> {
    this.#round += 1
    this.#history = []
    this.#wrong = []
    this.#acknowledged = new Map()
    this.#paused = false
    const playing = new AbortController()
    const clients = Array.from({ length: CLIENTS }, (_, at) => this.#ask(`r${this.#round}.${at % 2}`, playing.signal))
    const done = await this.#strike(kind).catch((error: unknown) => {
      this.#wrong.push(String(error))
    })
    playing.abort()
    await Promise.all(clients)
    if (done) for (const at of [0, 1]) await this.#readAll(`r${this.#round}.${at}`)
    const history = this.#history.map((one) => ({ ...one }))
    // What nobody could read to the end cannot be judged.
    const broken = done ? unexplained(history, `round-${this.#round}`) : []
    return { history, wrong: [...this.#wrong, ...broken, ...this.#dropped()] }
  }

  /** Strikes the owner. Resolves when the namespace is served again; rejects if it is not. */
  async #strike(kind: RoundKind): Promise<true> {
    await this.#answers(10)
    const old = await this.#present()
    const other = this.#processes.find((one) => one !== old)
    if (!other) throw new Error('there is no other process')
    const from = { old: old.events.length, other: other.events.length }
    if (kind === 'ahead' || kind === 'behind') {
      old.order({ order: 'wall', ms: kind === 'ahead' ? 3_600_000 : -3_600_000 })
      await this.#answers(10)
      old.order({ order: 'wall', ms: 0 })
      return this.#answers(5)
    }
    if (kind === 'cut') {
      const proxy = this.#parts.proxies[this.#processes.indexOf(old)]
      for (let times = 0; times < 5; times++) {
        proxy?.abandon()
        await this.#answers(3)
      }
      proxy?.bury() // a server has so many connections and no more
      return true
    }
    if (kind === 'kill') {
      await old.kill()
      await this.#takenBy(other, from.other)
      const at = this.#processes.indexOf(old)
      const proxy = this.#parts.proxies[at]
      if (proxy) this.#processes[at] = this.#parts.start(proxy)
      return this.#answers(5, other)
    }
    await sleep(this.#random.next('moment') * 20)
    if (!(await this.#stop(old, kind))) return this.#strike(kind)
    if (kind === 'twice') return this.#giveOutTwice(old, other, from)
    await this.#takenBy(other, from.other)
    await this.#answers(3, other)
    this.#askBoth(old)
    old.signal('SIGCONT')
    await this.#noticed(old, from.old)
    return this.#answers(3)
  }

  /** @returns false if it has lost the namespace before, as it may on a busy machine: then it goes on */
  async #stop(old: BankProcess, kind: RoundKind): Promise<boolean> {
    if (kind === 'stop') {
      old.signal('SIGSTOP')
      return true
    }
    const point: HaltPoint = kind === 'stored' || kind === 'checked' ? kind : 'sending'
    const from = old.events.length
    old.order({ order: 'halt', point })
    const ended = await old.hears(from, ({ event }) => event === 'halt' || event === 'lost', this.#limitMs)
    if (!ended) throw new Error(`it never came to ${point}`)
    if (old.events.slice(from).some(({ event }) => event === 'halt')) return true
    old.order({ order: 'halt' })
    return false
  }

  /** A failover lost what was stored last: the epoch of the process that stands still is given out again. */
  async #giveOutTwice(old: BankProcess, other: BankProcess, from: { old: number; other: number }): Promise<true> {
    this.#paused = true
    await this.#parts.client.query(
      `with n as (update yield_sandbox.namespace set owner = null, epoch = epoch - 1 where name = 'bank' and owner = $1 returning owner)
       update yield_sandbox.process set dead = true where id = $1 and exists (select from n)`,
      [idOf(old)],
    )
    await this.#takenBy(other, from.other)
    old.signal('SIGCONT')
    await this.#noticed(old, from.old)
    for (const at of [0, 1]) await within(this.#read(other, `r${this.#round}.${at}`, 'list'))
    this.#paused = false
    return this.#answers(3)
  }

  /** The process that said last that it owns the namespace. */
  #owner(): BankProcess {
    const [first] = this.#processes.toSorted((a, b) => Number(b.running) - Number(a.running) || epochOf(b) - epochOf(a))
    if (!first) throw new Error('no process is there')
    return first
  }

  /** The owner, once there is one: on a busy machine a lease runs out before it is renewed, and the other process may only be starting. */
  async #present(): Promise<BankProcess> {
    const until = performance.now() + this.#limitMs
    for (;;) {
      const owner = this.#owner()
      if (epochOf(owner) !== -1) return owner
      if (performance.now() > until) throw new Error('nobody owns the namespace')
      await sleep(2)
    }
  }

  async #takenBy(other: BankProcess, from: number): Promise<void> {
    if (await other.hears(from, ({ event }) => event === 'owner', this.#limitMs)) return
    throw new Error('no other process took the namespace')
  }

  /** A process whose namespace was taken finds that out when it goes on. */
  async #noticed(old: BankProcess, from: number): Promise<void> {
    const noticed = await old.hears(from, ({ event }) => event === 'lost', 10 * LEASE_MS)
    if (!noticed) this.#wrong.push('a process whose namespace was taken went on')
  }

  /** Resolves when so many more transfers were acknowledged, by this process if one is given. */
  async #answers(count: number, by?: BankProcess): Promise<true> {
    const so = () =>
      by ? (this.#acknowledged.get(by) ?? 0) : [...this.#acknowledged.values()].reduce((a, b) => a + b, 0)
    const wanted = so() + count
    const until = performance.now() + this.#limitMs
    while (so() < wanted) {
      if (performance.now() > until || !this.#processes.some(({ running }) => running))
        throw new Error('nobody answers')
      await sleep(2)
    }
    return true
  }

  /** Who stood still finds these when it goes on. */
  #askBoth(old: BankProcess): void {
    for (const at of [0, 1]) {
      const portfolio = `r${this.#round}.${at}`
      for (const ask of ['balance', 'list', 'balance', 'list'] as const) void this.#read(old, portfolio, ask)
      void this.#attempt(old, transferTo(portfolio, this.#random))
    }
  }

  /** A client that asks for one thing after another. */
  async #ask(portfolio: string, playing: AbortSignal): Promise<void> {
    while (!playing.aborted) {
      if (this.#paused) await sleep(5)
      else if (this.#random.next('what') < 0.6) await this.#transfer(portfolio, playing)
      else await within(this.#read(this.#any(), portfolio, this.#random.next('what') < 0.5 ? 'balance' : 'list'))
    }
  }

  /** The owner as it seems, mostly. */
  #any(): BankProcess {
    const at = Math.floor(this.#random.next('whom') * this.#processes.length)
    return this.#random.next('whom') < 0.8 ? this.#owner() : (this.#processes[at] ?? this.#owner())
  }

  /** Asks for a transfer until it is answered, or gives up. */
  async #transfer(portfolio: string, playing: AbortSignal): Promise<void> {
    const transfer = transferTo(portfolio, this.#random)
    while (!playing.aborted && !this.#paused) {
      const answer = await within(this.#attempt(this.#any(), transfer))
      if (answer && 'done' in answer) return
      if (this.#random.next('patience') < 0.1) return
      if (answer) await sleep(5)
    }
  }

  async #attempt(process: BankProcess, transfer: Omit<TransferAttempt, 'begin'>): Promise<BankAnswer> {
    const { key, portfolio, amount } = transfer
    const attempt: TransferAttempt = { ...transfer, begin: performance.now() }
    this.#history.push(attempt)
    const acknowledged = this.#acknowledged
    const answer = await process.ask({ ask: 'transfer', key, portfolio, type: 'deposit', amount })
    if (!('done' in answer)) return answer
    Object.assign(attempt, { end: performance.now(), answer })
    acknowledged.set(process, (acknowledged.get(process) ?? 0) + 1)
    return answer
  }

  async #read(process: BankProcess, portfolio: string, ask: 'balance' | 'list' | 'whole'): Promise<BankAnswer> {
    const begin = performance.now()
    const history = this.#history
    const answer = await process.ask({ ask, portfolio })
    const seen = { portfolio, begin, end: performance.now() }
    if ('principal' in answer) history.push({ kind: 'balance', ...seen, ...answer } satisfies BalanceRead)
    if ('transactions' in answer)
      history.push({ kind: 'list', ...seen, ...answer, whole: ask === 'whole' } satisfies ListRead)
    return answer
  }

  async #readAll(portfolio: string): Promise<void> {
    const until = performance.now() + this.#limitMs
    for (;;) {
      const answer = await within(this.#read(this.#owner(), portfolio, 'whole'))
      if (answer && 'transactions' in answer) return
      if (performance.now() > until) return void this.#wrong.push('nobody shows the whole list')
      await sleep(5)
    }
  }

  /** A process that loses the namespace is dead, or another one has it. */
  #dropped(): string[] {
    return this.#processes.flatMap(({ events }) =>
      events.flatMap((lost, at) => {
        const again = events.slice(at).find((one) => one.event === 'owner')
        if (lost.event !== 'lost' || again?.event !== 'owner' || again.process !== lost.process) return []
        return [`a process dropped what was still its own: ${lost.reason}`]
      }),
    )
  }

  async #end(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.kill()))
    await Promise.all(this.#parts.proxies.map((proxy) => proxy.close()))
  }
}

interface BankParts {
  /** The test's own connection. */
  client: Client
  /** What the processes reach the database by. */
  proxies: readonly CuttingProxy[]
  start(proxy: CuttingProxy): BankProcess
}

/** Epoch of the namespace as the process had it last; -1 if it has it no more. */
function epochOf({ events }: BankProcess): number {
  const last = events.findLast(({ event }) => event !== 'halt')
  return last?.event === 'owner' ? last.epoch : -1
}

/** Id under which it had the namespace last. */
function idOf({ events }: BankProcess): string | undefined {
  return events.flatMap((one) => (one.event === 'owner' ? [one.process] : [])).at(-1)
}

function transferTo(portfolio: string, random: SeededRandom): Omit<TransferAttempt, 'begin'> {
  const amount = String(1 + Math.floor(random.next('amount') * 1_000))
  return { kind: 'transfer', portfolio, key: randomUUID(), type: 'deposit', amount }
}

/** The answer, if it comes while a client waits for it. */
function within(answer: Promise<BankAnswer>): Promise<BankAnswer | undefined> {
  return Promise.race([answer, sleep(PATIENCE_MS).then(() => undefined)])
}
