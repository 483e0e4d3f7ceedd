import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus'
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator'

/** The greatest seed. */
export const MAX_SEED = 2 ** 32 - 1

/**
 * The seeded source of every random choice. Each purpose draws from a stream of its own, so that one more request id
 * does not change the next portfolio's id or the next fault's draw. A state that is kept across restarts goes through
 * several runs: each run draws other values, or it would issue the ids of the first again.
 */
export class SeededRandom {
  readonly #streams = new Map<string, RandomGenerator>()

  /** `run` counts the restarts over one state, from 0. */
  constructor(
    readonly seed: number,
    readonly run = 0,
  ) {}

  /** A seed for a run that was given none. */
  static freshSeed(): number {
    return randomInt(2 ** 31)
  }

  /** A token that must not be guessable: not derived from the seed. */
  static secret(): string {
    return randomBytes(24).toString('base64url')
  }

  /** A private key of secp256k1 that nobody can guess: 32 bytes, out of range once in 2^128. */
  static secretKey(): `0x${string}` {
    return `0x${randomBytes(32).toString('hex')}`
  }

  /** A version 4 UUID that nobody else has; not derived from the seed either. */
  static freshUuid(): string {
    return randomUUID()
  }

  /** A number in [0, 1) from the named stream, with 32 bits of precision. */
  next(stream: string): number {
    let generator = this.#streams.get(stream)
    if (!generator) {
      // The whole state is hashed: seeded by one small number, xoroshiro's first draws hardly differ between seeds.
      const source = this.run === 0 ? `${this.seed}` : `${this.seed}#${this.run}`
      generator = xoroshiro128plusFromState([0, 1, 2, 3].map((part) => hash(`${part}/${source}/${stream}`)))
      this.#streams.set(stream, generator)
    }
    return (generator.next() >>> 0) / 2 ** 32
  }

  /** Bytes from the named stream. */
  bytes(stream: string, length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.next(stream) * 256))
  }

  /** A version 4 UUID from the named stream. */
  uuid(stream: string): string {
    const bytes = this.bytes(stream, 16)
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const hex = Buffer.from(bytes).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** A copy in the same state that goes on independently. */
  copy(): SeededRandom {
    const copy = new SeededRandom(this.seed, this.run)
    for (const [stream, generator] of this.#streams) copy.#streams.set(stream, generator.clone())
    return copy
  }

  /** Restarts every stream: the same draws come again. */
  reset(): void {
    this.#streams.clear()
  }
}

/** FNV-1a, 32 bits, finished as MurmurHash3 does so that every bit of the text reaches every bit of the result. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}
