import { incrementBase32, ulid } from 'ulid'
import type { SeededRandom } from '../support/random.ts'
import type { SandboxClock } from './clock.ts'

/** Prefix of an id: portfolio, end user, transaction, request. */
export type IdPrefix = 'jar' | 'usr' | 'txn' | 'req'

/** The digits of a ULID, in their order: Crockford's Base32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The last id made with a prefix, in two parts: the next one of the same time differs in the last digit alone, but for every 32nd. */
interface Made {
  time: number
  /** All but the last digit. */
  stem: string
  /** Value of the last digit. */
  last: number
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
    this.#last = copyOf(last)
  }

  /** The next id, such as `jar_01JD7Z4Q3V6N8W5T2R9YHKXGBM`: the prefix and 26 characters. */
  next(prefix: IdPrefix): string {
    const time = this.#clock.now() + this.#random.run
    let made = this.#last.get(prefix)
    if (made === undefined || time > made.time) {
      const id = `${prefix}_${ulid(time, () => this.#random.next(`id:${prefix}`))}`
      made = { time, stem: id.slice(0, -1), last: DIGITS.indexOf(id.slice(-1)) }
      this.#last.set(prefix, made)
    } else if (made.last < DIGITS.length - 1) {
      made.last++
    } else {
      made.stem = incrementBase32(made.stem)
      made.last = 0
    }
    return made.stem + DIGITS[made.last]
  }

  /** The last id and time of each prefix, for a copy that goes on from here. */
  get made(): IdsMade {
    return copyOf(this.#last)
  }

  /** Forgets the ids made so far, for a clock that went back and random streams that start anew. */
  reset(): void {
    this.#last.clear()
  }
}

/** The last id made, by prefix. */
export type IdsMade = ReadonlyMap<IdPrefix, Readonly<Made>>

function copyOf(last: IdsMade = new Map()): Map<IdPrefix, Made> {
  return new Map([...last].map(([prefix, made]) => [prefix, { ...made }]))
}
