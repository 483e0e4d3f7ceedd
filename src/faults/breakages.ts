import type { SandboxClock } from '../domain/clock.ts'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Logger } from '../support/logger.ts'
import { retryWhile } from '../support/waiting.ts'

/** Something a fault breaks for a while. */
export interface Breakage {
  /** Names what is broken: faults that break the same share it, and it is mended when the last of them lets go. */
  what: string
  /** What must be whole for it to be mended. */
  needs?: string
  break(): void | Promise<void>
  mend(): void | Promise<void>
}

interface Held {
  holders: number
  /** Called when it is whole again. */
  waiting: (() => Promise<void> | undefined)[]
}

/** Milliseconds of real time between attempts to mend something on a chain that is away. */
const PAUSE_MS = 250

/** Keeps track of what faults have broken, so that every piece of it is mended once and in order, however long that takes. */
export class Breakages {
  /** By what is broken. Another map after {@link abandon}. */
  #held = new Map<string, Held>()
  /** What is being broken or mended, with what that is. */
  readonly #underWay = new Map<Promise<void>, string>()
  readonly #deps: BreakageDeps

  constructor(deps: BreakageDeps) {
    this.#deps = deps
  }

  /** What is being broken or mended at present. */
  get underWay(): string[] {
    return [...new Set(this.#underWay.values())]
  }

  /** Breaks something and mends it when released, or when it is over. Resolves when broken; throws what breaking throws. */
  async keep(breakage: Breakage, released: AbortSignal, over?: Promise<void>): Promise<void> {
    if (released.aborted) return
    const all = this.#held
    const held = all.get(breakage.what) ?? { holders: 0, waiting: [] }
    all.set(breakage.what, held)
    held.holders++
    let holds = true
    const letGo = () => {
      if (!holds) return undefined
      holds = false
      released.removeEventListener('abort', letGo)
      held.holders--
      return held.holders === 0 ? this.#beginToMend(breakage, held, all) : undefined
    }
    const broken = this.#break(breakage)
    // Whoever waits until it is mended waits for this, too: it may be released before it is broken.
    this.#track(
      breakage.what,
      broken.then(() => (released.aborted ? letGo() : undefined), letGo),
    )
    await broken
    if (released.aborted) return
    released.addEventListener('abort', letGo, { once: true })
    void over?.then(letGo)
  }

  /** Resolves when everything that has been released is mended, but for what needs something that is still broken. */
  async mended(): Promise<void> {
    await Promise.all(this.#underWay.keys())
  }

  /** Mends nothing of what has been broken so far: all of it is made anew, or ends. */
  abandon(): void {
    this.#held = new Map()
    this.#underWay.clear()
  }

  async #break(breakage: Breakage): Promise<void> {
    await breakage.break()
  }

  #beginToMend(breakage: Breakage, held: Held, all: Map<string, Held>): Promise<void> | undefined {
    if (all !== this.#held) return undefined
    const needed = breakage.needs === undefined ? undefined : all.get(breakage.needs)
    if (needed) needed.waiting.push(() => this.#beginToMend(breakage, held, all))
    // Unless broken again in the meantime: whoever did it mends it.
    else if (held.holders === 0) return this.#track(breakage.what, this.#mend(breakage, held, all))
    return undefined
  }

  /** A chain that is away is waited for; what is broken anew meanwhile is mended by whoever did it. */
  async #mend({ what, mend }: Breakage, held: Held, all: Map<string, Held>): Promise<void> {
    const { clock, log } = this.#deps
    all.delete(what)
    const ended = () => all !== this.#held || all.has(what)
    const passes = (error: unknown, attempt: number) => {
      if (!(error instanceof ChainUnavailableError)) return false
      if (attempt === 1) log.warn({ error: error.message, what }, 'what a fault broke is mended when the chain answers')
      return true
    }
    try {
      const sleep = (milliseconds: number) => clock.wallSleep(milliseconds)
      await retryWhile(async () => mend(), { passes, pauseMs: PAUSE_MS, sleep, ended })
    } catch (error) {
      if (!ended()) log.error({ err: error, what }, 'what a fault broke could not be mended')
    }
    await Promise.all(held.waiting.map((goOn) => goOn()))
  }

  #track(what: string, work: Promise<void>): Promise<void> {
    this.#underWay.set(work, what)
    void work.finally(() => this.#underWay.delete(work))
    return work
  }
}

/** What breakages are mended with. */
export interface BreakageDeps {
  clock: SandboxClock
  log: Logger
}
