/** The last moment business time can reach, in milliseconds: what an ISO 8601 year of four digits and an id can say. */
export const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Where a clock stands: what a restart needs for business time to go on. Milliseconds. */
export interface ClockPosition {
  /** How far a running clock is ahead of real time. */
  offset: number
  /** Business time since the Unix epoch; null while it runs. */
  frozen_at: number | null
}

/**
 * The sandbox clock: business time (cursor age, idempotency age, timestamps, confirmation delay, chain time). It can be
 * frozen and moved forward. Token lifetimes use {@link SandboxClock.wallNow}: partners mint tokens with their own clock.
 * The only place that reads real time or sets a timer.
 */
export class SandboxClock {
  #offset = 0
  readonly #start: number | undefined
  #frozenAt: number | undefined
  /** The latest moment that it has said while it ran. */
  #last = Number.NEGATIVE_INFINITY
  readonly #sleepers = new Set<Sleeper>()
  /** One listener a signal: of ten thousand, each that is added or removed is searched for among all. */
  readonly #endedTogether = new WeakMap<AbortSignal, Set<Sleeper>>()
  readonly #listeners = new Set<() => void>()

  /**
   * Starts with real time, or frozen at the given moment, in milliseconds since the Unix epoch; or goes on from where an
   * earlier clock stood. A reset leads to the start in any case.
   */
  constructor(start?: number, state: ClockPosition = { offset: 0, frozen_at: start ?? null }) {
    this.#start = start
    this.#offset = state.offset
    this.#frozenAt = state.frozen_at ?? undefined
  }

  /** Good for the constructor of a later clock. Changes with every move only. */
  get state(): ClockPosition {
    return { offset: this.#offset, frozen_at: this.#frozenAt ?? null }
  }

  /**
   * Business time in milliseconds since the Unix epoch. It never goes back but with a reset: when the machine's clock does, as of a
   * virtual machine that was moved, it goes on from where it was, and is that much further ahead of real time.
   */
  now(): number {
    if (this.#frozenAt !== undefined) return this.#frozenAt
    const wall = Date.now()
    this.#offset = Math.max(this.#offset, this.#last - wall)
    this.#last = wall + this.#offset
    return this.#last
  }

  /** Lets business time go on from a moment that others have on record, if it has not come there. Milliseconds since the Unix epoch. */
  notBefore(moment: number): void {
    if (this.#frozenAt !== undefined) this.#frozenAt = Math.max(this.#frozenAt, moment)
    else this.#last = Math.max(this.#last, moment)
  }

  /** Business time, as the clock stands now, at a moment of real time. Both in milliseconds since the Unix epoch. */
  at(wall: number): number {
    return this.#frozenAt ?? wall + this.#offset
  }

  /** Business time as ISO 8601 UTC with milliseconds. */
  iso(): string {
    return new Date(this.now()).toISOString()
  }

  /** Real time in milliseconds since the Unix epoch, for token lifetimes only. */
  wallNow(): number {
    return Date.now()
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined
  }

  /** How far business time is ahead of real time, in milliseconds. */
  get offset(): number {
    return this.now() - Date.now()
  }

  /** Moves business time forward and wakes every sleeper whose time has come. Throws RangeError on a negative step or
   * one that leads beyond {@link END_OF_TIME}. */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError('the sandbox clock only moves forward')
    if (this.now() + milliseconds > END_OF_TIME) throw new RangeError('the sandbox clock ends with the year 9999')
    const step = Math.ceil(milliseconds) // ids and dates know no fractions
    if (this.#frozenAt === undefined) this.#offset += step
    else this.#frozenAt += step
    this.#moved()
  }

  /** Stops business time where it is, or at a later moment. */
  freeze(): void {
    this.#frozenAt = this.now()
    this.#moved()
  }

  /** Lets business time run on from where it stands. */
  unfreeze(): void {
    if (this.#frozenAt === undefined) return
    this.#offset = this.#frozenAt - Date.now()
    this.#frozenAt = undefined
    this.#moved()
  }

  /** Back to where it started; sleepers are woken with an AbortError. */
  reset(): void {
    this.#offset = 0
    this.#last = Number.NEGATIVE_INFINITY
    this.#frozenAt = this.#start
    for (const sleeper of [...this.#sleepers]) sleeper.cancel(new DOMException('the clock was reset', 'AbortError'))
    for (const listener of this.#listeners) listener()
  }

  /** Calls back after every move of the clock. Returns the unsubscriber. */
  onMove(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when business time has moved on by so many milliseconds. Rejects with the reason of the first signal aborted. */
  sleep(milliseconds: number, ...signals: AbortSignal[]): Promise<void> {
    if (milliseconds <= 0) return Promise.resolve()
    for (const { aborted, reason } of signals) if (aborted) return Promise.reject(reason)
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = {
        due: this.now() + milliseconds,
        timer: undefined,
        company: signals.map((signal) => this.#endedBy(signal)),
        wake: () => {
          this.#forget(sleeper)
          resolve()
        },
        cancel: (reason) => {
          this.#forget(sleeper)
          reject(reason)
        },
      }
      this.#sleepers.add(sleeper)
      for (const sleepers of sleeper.company) sleepers.add(sleeper)
      this.#arm(sleeper)
    })
  }

  /**
   * Resolves after so many milliseconds of real time, or as soon as the signal is aborted: for retries towards other
   * processes, never for business rules.
   */
  wallSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, milliseconds).unref()
      if (signal?.aborted) done()
      else signal?.addEventListener('abort', done)
    })
  }

  #moved(): void {
    for (const sleeper of [...this.#sleepers]) this.#arm(sleeper)
    for (const listener of this.#listeners) listener()
  }

  #arm(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer)
    const left = sleeper.due - this.now()
    if (left <= 0) sleeper.wake()
    // A timer holds 31 bits of milliseconds; it may fire a little early, so it re-arms instead of waking.
    else if (!this.frozen) sleeper.timer = setTimeout(() => this.#arm(sleeper), Math.min(left, 2 ** 31 - 1))
  }

  #forget(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer)
    this.#sleepers.delete(sleeper)
    for (const sleepers of sleeper.company) sleepers.delete(sleeper)
  }

  #endedBy(signal: AbortSignal): Set<Sleeper> {
    const known = this.#endedTogether.get(signal)
    if (known) return known
    const sleepers = new Set<Sleeper>()
    const cancelAll = () => {
      for (const sleeper of [...sleepers]) sleeper.cancel(signal.reason)
    }
    signal.addEventListener('abort', cancelAll, { once: true })
    this.#endedTogether.set(signal, sleepers)
    return sleepers
  }
}

interface Sleeper {
  due: number
  timer: NodeJS.Timeout | undefined
  /** For each of its signals, those that it ends. */
  company: Set<Sleeper>[]
  wake(): void
  cancel(reason: unknown): void
}
