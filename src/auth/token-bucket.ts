import type { SandboxClock } from '../domain/clock.ts'

/** Allows a burst of `capacity` and then one more every `interval` milliseconds of real time. */
export class TokenBucket {
  #left: number
  #countedAt: number

  constructor(
    private readonly capacity: number,
    private readonly interval: number,
    private readonly clock: SandboxClock,
  ) {
    this.#left = capacity
    this.#countedAt = clock.wallNow()
  }

  /** True when one was left, which is then taken. */
  take(): boolean {
    const now = this.clock.wallNow()
    const earned = Math.max(0, now - this.#countedAt) / this.interval
    this.#left = Math.min(this.capacity, this.#left + earned)
    this.#countedAt = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
