import { monotonicFactory, type ULIDFactory } from 'ulid'
import type { SeededRandom } from '../support/random.ts'
import type { SandboxClock } from './clock.ts'

/** What an id names: a portfolio, an end user, a transaction or a request. */
export type IdPrefix = 'jar' | 'usr' | 'txn' | 'req'

/**
 * Makes ids: a prefix and a ULID of the sandbox clock's time and seeded randomness. assumption: ids
 *
 * Ids of one prefix strictly increase as strings, however many are made in a millisecond or under a frozen clock, and
 * after restarts too: each run of one state is a millisecond ahead of the one before it.
 */
export class Ids {
  readonly #clock: SandboxClock
  readonly #random: SeededRandom
  readonly #factories = new Map<IdPrefix, ULIDFactory>()

  constructor({ clock, random }: { clock: SandboxClock; random: SeededRandom }) {
    this.#clock = clock
    this.#random = random
  }

  /** The next id, such as `jar_01JD7Z4Q3V6N8W5T2R9YHKXGBM`: the prefix and 26 characters. */
  next(prefix: IdPrefix): string {
    let factory = this.#factories.get(prefix)
    if (!factory) {
      factory = monotonicFactory(() => this.#random.next(`id:${prefix}`))
      this.#factories.set(prefix, factory)
    }
    return `${prefix}_${factory(this.#clock.now() + this.#random.run)}`
  }

  /** Forgets what was made: for a clock that went back and random streams that start anew. */
  reset(): void {
    this.#factories.clear()
  }
}
