import type { SandboxClock } from '../../domain/clock.ts'
import type { MarketFigures } from '../../domain/ports/chain.ts'
import type { Pool } from '../../domain/records.ts'
import type { ChainReader } from '../reading/chain-reader.ts'

/** Milliseconds of the sandbox clock. */
const MAX_AGE_MS = 5_000

interface Entry {
  figures: Promise<MarketFigures>
  version: number
  readAt: number
}

/** Markets' figures, read again only after something changed on the chain, or with time. */
export class MarketCache {
  readonly #entries = new Map<string, Entry>()
  /** Made once per pool record: a request of the pool list asks for each. */
  readonly #keys = new WeakMap<Pool, string>()
  readonly #reader: ChainReader
  readonly #clock: SandboxClock

  constructor(reader: ChainReader, clock: SandboxClock) {
    this.#reader = reader
    this.#clock = clock
  }

  /** The figures kept for a pool's market, or those `load` reads; who asks meanwhile shares the reading. */
  get(pool: Pool, load: () => Promise<MarketFigures>): Promise<MarketFigures> {
    const key = this.#keyOf(pool)
    const now = this.#clock.now()
    const known = this.#entries.get(key)
    if (known && known.version === this.#reader.version && now - known.readAt < MAX_AGE_MS) return known.figures
    const entry = { figures: load(), version: this.#reader.version, readAt: now }
    this.#entries.set(key, entry)
    entry.figures.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    })
    return entry.figures
  }

  #keyOf(pool: Pool): string {
    let key = this.#keys.get(pool)
    if (key === undefined) {
      key = `${pool.protocol} ${pool.market_address} ${pool.token_address}`
      this.#keys.set(pool, key)
    }
    return key
  }
}
