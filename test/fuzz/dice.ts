import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator'

/** Every choice of one request: the same seed and index throw the same dice, whatever was sent before. */
export class Dice {
  readonly #generator: RandomGenerator

  constructor(seed: number, index: number) {
    // Neighbouring numbers make similar first draws unless their bits are spread.
    this.#generator = xoroshiro128plus(spread(spread(seed) ^ index))
    this.#generator.next()
  }

  /** A whole number from 0 up to the limit, without it. */
  below(limit: number): number {
    return Math.floor(((this.#generator.next() >>> 0) / 2 ** 32) * limit)
  }

  chance(probability: number): boolean {
    return (this.#generator.next() >>> 0) / 2 ** 32 < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0))
    for (const [name, weight] of entries) {
      if (left < weight) return name
      left -= weight
    }
    return entries[0]![0]
  }

  bytes(length: number): Buffer {
    return Buffer.from(Uint8Array.from({ length }, () => this.below(256)))
  }

  hex(bytes: number): string {
    return `0x${this.bytes(bytes).toString('hex')}`
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
}

/** The finish of MurmurHash3: every bit of the number reaches every bit of the result. */
function spread(number: number): number {
  let value = Math.imul((number | 0) ^ 0x9e3779b9, 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}
