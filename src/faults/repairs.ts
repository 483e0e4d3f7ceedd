import type { PoolFacts } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import { type Chain, type Chains, ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Logger } from '../support/logger.ts'
import { inTime, retryWhile } from '../support/waiting.ts'

/** Something that a fault breaks for a while, and how it is repaired. */
export interface Repair {
  /** Names what is broken. Faults that break the same thing share its repair, which is done when the last of them lets go. */
  what: string
  /** Names what must work before this can be repaired. */
  needs?: string
  /** True if it stays broken when the process is killed. */
  lasts?: boolean
  break(): void | Promise<void>
  repair(): void | Promise<void>
}

/** Repairs of a pool, by what a fault breaks of it. */
const POOL_REPAIRS = {
  transfers: (chain: Chain, pool: PoolFacts) => chain.setPoolPaused(pool, false),
  liquidity: (chain: Chain, pool: PoolFacts) => chain.setPoolLiquid(pool, true),
  yield: (chain: Chain, pool: PoolFacts) => chain.setApy(pool, undefined),
}

/** Parts of a pool that a fault can break. */
export type PoolPart = keyof typeof POOL_REPAIRS

/** For a fault that breaks one part of a pool, by `change`. */
export function poolRepair(part: PoolPart, chain: Chain, pool: PoolFacts, change: () => Promise<void>): Repair {
  return {
    what: `${part} of ${pool.market_address}, token ${pool.token_address}, chain ${pool.chain_id}`,
    needs: answersOf(chain),
    lasts: true,
    break: change,
    repair: () => POOL_REPAIRS[part](chain, pool),
  }
}

/** For a fault that keeps a chain from answering. */
export function chainRepair(chain: Chain): Repair {
  return { what: answersOf(chain), break: () => chain.pause(), repair: () => chain.resume() }
}

function answersOf(chain: Chain): string {
  return `answers of chain ${chain.chain_id}`
}

interface Owed {
  /** Faults that keep it broken. */
  holders: number
  /** Begin repairs that need this one; called when it is done. */
  waiting: (() => Promise<void> | undefined)[]
}

/** Milliseconds of real time between two attempts to repair something on a chain that does not answer. */
const PAUSE_MS = 250
/** Milliseconds that a request which clears faults waits for the repairs. Clients count five seconds as a hang. */
const SETTLING_TIME_MS = 3_000

/**
 * Owns everything that faults broke and that is still to be repaired. Each repair is done once, in order:
 *
 * | when | how |
 * |---|---|
 * | the rule is cleared, or its `for` is over | at once, or when the chain answers; {@link settleAll} waits for it |
 * | the sandbox is reset | not at all: the chains go back to where they began, see {@link abandon} |
 * | the sandbox stops | as far as the chains answer in time, see {@link settleAtStop} |
 * | it starts again after a run that broke something, and was not stopped in order or not all was repaired | every pool, see {@link settleAtStart} |
 */
export class Repairs {
  /** By what is broken. Replaced by another map when its repairs are abandoned. */
  #owed = new Map<string, Owed>()
  /** Breaking and repairing that has begun, with what it is about. */
  readonly #underWay = new Map<Promise<void>, string>()
  readonly #deps: RepairDeps

  constructor(deps: RepairDeps) {
    this.#deps = deps
  }

  /** Names of what is being broken or repaired at present. */
  get underWay(): string[] {
    return [...new Set(this.#underWay.values())]
  }

  /** True if something is broken, or is being repaired. */
  get owed(): boolean {
    return this.#owed.size > 0 || this.#underWay.size > 0
  }

  /** Breaks something, and repairs it when `released` or `over`. Resolves when it is broken; throws what `break` throws. */
  async owe(repair: Repair, released: AbortSignal, over?: Promise<void>): Promise<void> {
    if (released.aborted) return
    const all = this.#owed
    const owed = all.get(repair.what) ?? { holders: 0, waiting: [] }
    all.set(repair.what, owed)
    owed.holders++
    let holds = true
    const letGo = () => {
      if (!holds) return undefined
      holds = false
      released.removeEventListener('abort', letGo)
      owed.holders--
      return owed.holders === 0 ? this.#begin(repair, owed, all) : undefined
    }
    const broken = this.#break(repair)
    // A rule may be cleared before its fault has broken anything: settleAll() waits for that, too.
    this.#track(
      repair.what,
      broken.then(() => (released.aborted ? letGo() : undefined), letGo),
    )
    await broken
    if (released.aborted) return
    released.addEventListener('abort', letGo, { once: true })
    void over?.then(letGo)
  }

  /**
   * Resolves when everything that has been released is repaired, except what needs something that is still broken. Throws
   * Problem chain_unavailable if that takes longer than a client waits; the repairs go on.
   */
  async settleAll(): Promise<void> {
    await inTime(this.#settled(), this.#deps.clock.wallSleep(SETTLING_TIME_MS), () => {
      const what = this.underWay.join('; ')
      const detail = `Out of force; what was broken is mended as soon as the chain lets it: ${what}.`
      return new Problem('chain_unavailable', { detail })
    })
  }

  /** Call when all rules are cleared and the chains are about to end. @returns true if nothing is left to the next start */
  async settleAtStop(): Promise<boolean> {
    const settled = await this.settleAll().then(
      () => true,
      () => false,
    )
    this.abandon()
    return settled
  }

  /** Repairs every pool that a fault of an earlier run may have broken. Throws ChainUnavailableError. */
  async settleAtStart(): Promise<void> {
    const { chains, pools } = this.#deps
    const distinct = [...new Map(pools.map((pool) => [pool.pool_id, pool])).values()]
    const settle = async (chain: Chain) => {
      for (const pool of distinct.filter(({ chain_id }) => chain_id === chain.chain_id)) {
        for (const repair of Object.values(POOL_REPAIRS)) await repair(chain, pool)
      }
    }
    await Promise.all(chains.all().map(settle))
  }

  /** Forgets every repair: the chains go back to where they began, or end. */
  abandon(): void {
    this.#owed = new Map()
    this.#underWay.clear()
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#underWay.keys())
  }

  /** Async, so that what `break` throws at once becomes a rejection. */
  async #break(repair: Repair): Promise<void> {
    if (repair.lasts) await this.#deps.mayBreak?.()
    await repair.break()
  }

  #begin(repair: Repair, owed: Owed, all: Map<string, Owed>): Promise<void> | undefined {
    if (all !== this.#owed) return undefined
    const needed = repair.needs === undefined ? undefined : all.get(repair.needs)
    if (needed) needed.waiting.push(() => this.#begin(repair, owed, all))
    // A fault that has broken it again in the meantime owes the repair.
    else if (owed.holders === 0) return this.#track(repair.what, this.#repair(repair, owed, all))
    return undefined
  }

  /** Waits for a chain that does not answer. A fault that breaks the same thing meanwhile takes the repair over. */
  async #repair({ what, repair }: Repair, owed: Owed, all: Map<string, Owed>): Promise<void> {
    const { clock, log } = this.#deps
    all.delete(what)
    const ended = () => all !== this.#owed || all.has(what)
    const passes = (error: unknown, attempt: number) => {
      if (!(error instanceof ChainUnavailableError)) return false
      if (attempt === 1) log.warn({ error: error.message, what }, 'what a fault broke is mended when the chain answers')
      return true
    }
    try {
      const sleep = (milliseconds: number) => clock.wallSleep(milliseconds)
      await retryWhile(async () => repair(), { passes, pauseMs: PAUSE_MS, sleep, ended })
    } catch (error) {
      if (!ended()) log.error({ err: error, what }, 'what a fault broke could not be mended')
    }
    await Promise.all(owed.waiting.map((goOn) => goOn()))
  }

  #track(what: string, work: Promise<void>): Promise<void> {
    this.#underWay.set(work, what)
    void work.finally(() => this.#underWay.delete(work))
    return work
  }
}

export interface RepairDeps {
  clock: SandboxClock
  log: Logger
  chains: Chains
  /** Pools that faults can break; the same pool may occur for several tenants. */
  pools: readonly PoolFacts[]
  /** Called before something is broken that stays so when the process is killed. Rejects if that cannot be noted: then it is not broken. */
  mayBreak?(): Promise<void> | undefined
}
