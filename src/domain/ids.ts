import { incrementBase32, TIME_LEN, ulid } from 'ulid'
import type { SeededRandom } from '../support/random.ts'
import type { SandboxClock } from './clock.ts'

/** Prefix of an id: portfolio, end user, transaction, request. */
export type IdPrefix = 'jar' | 'usr' | 'txn' | 'req'

/** The last id made with a prefix, and the time in it. */
interface Made {
  time: number
  ulid: string
}

/**
 * Makes ids: a prefix and a ULID of the sandbox clock's time and seeded randomness. assumption: ids
 *
 * Ids of one prefix strictly increase as strings, also within one millisecond, under a frozen clock and after restarts: each run of
 * one state is a millisecond ahead of the run before it.
 */
export class Ids {
  readonly #clock: SandboxClock
  readonly #random: SeededRandom
  readonly #last: Map<IdPrefix, Made>

  /** `last`: the ids that earlier users of this state made. */
  constructor({ clock, random, last }: { clock: SandboxClock; random: SeededRandom; last?: IdsMade | undefined }) {
    this.#clock = clock
    this.#random = random
    this.#last = new Map(last)
  }

  /** The next id, such as `jar_01JD7Z4Q3V6N8W5T2R9YHKXGBM`: the prefix and 26 characters. */
  next(prefix: IdPrefix): string {
    const time = this.#clock.now() + this.#random.run
    const last = this.#last.get(prefix)
    const made =
      last !== undefined && time <= last.time
        ? { time: last.time, ulid: last.ulid.slice(0, TIME_LEN) + incrementBase32(last.ulid.slice(TIME_LEN)) }
        : { time, ulid: ulid(time, () => this.#random.next(`id:${prefix}`)) }
    this.#last.set(prefix, made)
    return `${prefix}_${made.ulid}`
  }

  /** The last id and time of each prefix, for a copy that goes on from here. */
  get made(): IdsMade {
    return new Map(this.#last)
  }

  /** Forgets the ids made so far, for a clock that went back and random streams that start anew. */
  reset(): void {
    this.#last.clear()
  }
}

/** The last id made, by prefix. */
export type IdsMade = ReadonlyMap<IdPrefix, Made>
