/** Last moment that business time can reach, in milliseconds: the limit of an ISO 8601 year of four digits and of an id. */
export const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** State of a clock, from which business time goes on after a restart. Milliseconds. */
export interface ClockPosition {
  /** Lead of a running clock over real time. */
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
  /** The latest moment that `now()` returned while the clock ran. */
  #last = Number.NEGATIVE_INFINITY
  readonly #sleepers = new Set<Sleeper>()
  /** One listener per signal: among ten thousand listeners, each addition and removal would search through all of them. */
  readonly #endedTogether = new WeakMap<AbortSignal, Set<Sleeper>>()
  readonly #listeners = new Set<() => void>()

  /**
   * Starts at real time, or frozen at `start` (milliseconds since the Unix epoch), or where an earlier clock stood (`state`). A reset
   * leads back to `start` in any case.
   */
  constructor(start?: number, state: ClockPosition = { offset: 0, frozen_at: start ?? null }) {
    this.#start = start
    this.#offset = state.offset
    this.#frozenAt = state.frozen_at ?? undefined
  }

  /** State for the constructor of a later clock. Changes only when the clock is moved. */
  get state(): ClockPosition {
    return { offset: this.#offset, frozen_at: this.#frozenAt ?? null }
  }

  /**
   * Business time in milliseconds since the Unix epoch. Only a reset takes it back: when the machine's clock goes back, as after a
   * virtual machine is moved, business time goes on from its last value, and its lead over real time grows by the difference.
   */
  now(): number {
    if (this.#frozenAt !== undefined) return this.#frozenAt
    const wall = Date.now()
    this.#offset = Math.max(this.#offset, this.#last - wall)
    this.#last = wall + this.#offset
    return this.#last
  }

  /** Moves business time up to a moment that other records bear, unless it is past it. Milliseconds since the Unix epoch. */
  notBefore(moment: number): void {
    if (this.#frozenAt !== undefined) this.#frozenAt = Math.max(this.#frozenAt, moment)
    else this.#last = Math.max(this.#last, moment)
  }

  /** Converts a moment of real time to business time, as the clock stands now. Both in milliseconds since the Unix epoch. */
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

  /** Milliseconds since an arbitrary moment: never goes back, but stands still while the machine is suspended. For leases and pauses. */
  monotonicNow(): number {
    return performance.now()
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined
  }

  /** Lead of business time over real time, in milliseconds. */
  get offset(): number {
    return this.now() - Date.now()
  }

  /**
   * Moves business time forward and wakes every sleeper that is due. Throws RangeError on a negative step or one that leads beyond
   * {@link END_OF_TIME}.
   */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError('the sandbox clock only moves forward')
    if (this.now() + milliseconds > END_OF_TIME) throw new RangeError('the sandbox clock ends with the year 9999')
    const step = Math.ceil(milliseconds) // ids and dates have no fractions of a millisecond
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

  /** Returns to the start; sleepers reject with an AbortError. */
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

  /** Resolves when business time has moved on by `milliseconds`. Rejects with the reason of the first signal aborted. */
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
   * Resolves after `milliseconds` of real time, or as soon as the signal is aborted. For retries towards other processes, never for
   * business rules.
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
  /** For each of its signals, all sleepers that the signal ends. */
  company: Set<Sleeper>[]
  wake(): void
  cancel(reason: unknown): void
}
