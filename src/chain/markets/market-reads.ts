import type { PoolFacts } from '../../domain/chain-setup.ts'
import type { SandboxClock } from '../../domain/clock.ts'
import type { MarketFigures, Position } from '../../domain/ports/chain.ts'
import type { Address, Pool } from '../../domain/records.ts'
import { soundly } from '../json-rpc/rpc-client.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import { balanceOf, type Protocol } from './protocols/protocol.ts'

/**
 * Reads the markets and wallets of a chain, for the port `Chain`. Throws ChainUnavailableError, and ChainUnsoundError for invalid
 * answers.
 */
export class MarketReads {
  readonly #deps: MarketReadsDeps
  readonly #cache: MarketCache

  constructor(deps: MarketReadsDeps) {
    this.#deps = deps
    this.#cache = new MarketCache(deps.reader, deps.clock)
  }

  market(pool: Pool): Promise<MarketFigures> {
    const { chainId, reader, protocol, oracle } = this.#deps
    return this.#cache.get(pool, () =>
      soundly(chainId, async () => {
        const prices = oracle()
        if (!prices) throw new Error(`chain ${chainId} has no price oracle`)
        return protocol(pool).market(reader.read, pool, prices)
      }),
    )
  }

  /** See {@link MarketCache.moment}. */
  get moment(): object {
    return this.#cache.moment
  }

  /** Reads the underlying tokens that a pool can pay out now, in minor units; null if its market does not show them. */
  liquidity(pool: Pool): Promise<bigint | null> {
    const { chainId, reader, protocol } = this.#deps
    return soundly(chainId, () => protocol(pool).liquidity(reader.read, pool))
  }

  /** Reads the worth of each position, in minor units. */
  async values(positions: readonly Position[]): Promise<bigint[]> {
    if (positions.length === 0) return []
    const { chainId, reader, protocol } = this.#deps
    const valuations = positions.map(({ pool, shares }) => protocol(pool).valuation(pool, shares))
    const answers = await soundly(chainId, () => reader.read(valuations.map(({ read }) => read)))
    return valuations.map(({ worth }, index) => worth(answers[index] ?? 0n))
  }

  shares(wallet: Address, pool: Pool): Promise<bigint> {
    const { chainId, reader, protocol } = this.#deps
    return soundly(chainId, () => protocol(pool).shares(reader.read, pool, wallet))
  }

  /** Reads a wallet's balance of a token, in minor units. */
  async balance(wallet: Address, token: Address): Promise<bigint> {
    const { chainId, reader } = this.#deps
    const [balance] = await soundly(chainId, () => reader.read([balanceOf(token, wallet)]))
    return balance
  }
}

/** Dependencies of {@link MarketReads}. */
export interface MarketReadsDeps {
  chainId: string
  reader: ChainReader
  clock: SandboxClock
  protocol(pool: PoolFacts): Protocol
  /** Returns the address of the price oracle; undefined if the chain has none. */
  oracle(): Address | undefined
}

/** Milliseconds of the sandbox clock after which figures are read again. */
const MAX_AGE_MS = 5_000

interface Entry {
  figures: Promise<MarketFigures>
  version: number
  readAt: number
}

/** Cache of the markets' figures, which are read again only after a change on the chain, or after {@link MAX_AGE_MS}. */
export class MarketCache {
  readonly #entries = new Map<string, Entry>()
  /** Keys by pool record, each made only once: every request of the pool list needs all of them. */
  readonly #keys = new WeakMap<Pool, string>()
  readonly #reader: ChainReader
  readonly #clock: SandboxClock
  #moment = { now: Number.NaN, version: Number.NaN }

  constructor(reader: ChainReader, clock: SandboxClock) {
    this.#reader = reader
    this.#clock = clock
  }

  /** The same object until the clock goes on or the chain changes: nothing else makes kept figures stale. */
  get moment(): object {
    const now = this.#clock.now()
    const { version } = this.#reader
    if (this.#moment.now !== now || this.#moment.version !== version) this.#moment = { now, version }
    return this.#moment
  }

  /** Returns the cached figures of a pool's market, or reads them by `load`. Concurrent callers share one read. */
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
