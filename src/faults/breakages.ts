import type { Logger } from '../support/logger.ts'

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
  waiting: (() => void)[]
}

/** Keeps track of what faults have broken, so that every piece of it is mended once and in order. */
export class Breakages {
  readonly #held = new Map<string, Held>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  /** Breaks something and mends it when released, or when it is over. Resolves when broken; throws what breaking throws. */
  keep(breakage: Breakage, released: AbortSignal, over?: Promise<void>): Promise<void> {
    return this.#track(this.#keep(breakage, released, over))
  }

  /** Resolves when everything that was released is mended, but for what needs something that is still broken. */
  async mended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  async #keep(breakage: Breakage, released: AbortSignal, over?: Promise<void>): Promise<void> {
    const held = this.#held.get(breakage.what) ?? { holders: 0, waiting: [] }
    this.#held.set(breakage.what, held)
    held.holders++
    let holds = true
    const letGo = () => {
      if (!holds) return
      holds = false
      released.removeEventListener('abort', letGo)
      held.holders--
      if (held.holders === 0) this.#beginToMend(breakage, held)
    }
    try {
      await breakage.break()
    } catch (error) {
      letGo()
      throw error
    }
    if (released.aborted) return letGo()
    released.addEventListener('abort', letGo, { once: true })
    void over?.then(letGo)
  }

  #beginToMend(breakage: Breakage, held: Held): void {
    const needed = breakage.needs === undefined ? undefined : this.#held.get(breakage.needs)
    if (needed) needed.waiting.push(() => this.#beginToMend(breakage, held))
    // Unless broken again in the meantime: whoever did it mends it.
    else if (held.holders === 0) void this.#track(this.#mend(breakage, held))
  }

  async #mend({ what, mend }: Breakage, held: Held): Promise<void> {
    this.#held.delete(what)
    try {
      await mend()
    } catch (error) {
      this.#log.error({ err: error, what }, 'what a fault broke could not be mended')
    }
    for (const goOn of held.waiting) goOn()
  }

  #track(work: Promise<void>): Promise<void> {
    const done = () => this.#underWay.delete(work)
    this.#underWay.add(work)
    work.then(done, done)
    return work
  }
}
