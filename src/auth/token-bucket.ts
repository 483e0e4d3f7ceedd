import type { SandboxClock } from '../domain/clock.ts'

/** Allows a burst of `capacity` and then one more every `interval` milliseconds of real time. */
export class TokenBucket {
  /** When all will be there again, in milliseconds since the Unix epoch. */
  #fullAt = 0

  constructor(
    private readonly capacity: number,
    private readonly interval: number,
    private readonly clock: SandboxClock,
  ) {}

  /** True when one was left, which is then taken. */
  take(): boolean {
    const now = this.clock.wallNow()
    // Real time may be set back: no wait is longer than for all of them.
    this.#fullAt = Math.min(Math.max(this.#fullAt, now), now + this.capacity * this.interval)
    if (this.nextAt > now) return false
    this.#fullAt += this.interval
    return true
  }

  /** From when on there is one, in milliseconds since the Unix epoch. */
  get nextAt(): number {
    return this.#fullAt - (this.capacity - 1) * this.interval
  }
}
