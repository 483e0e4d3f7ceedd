import type { PoolFacts } from '../../domain/chain-setup.ts'
import type { SandboxClock } from '../../domain/clock.ts'
import type { MarketFigures, Position } from '../../domain/ports/chain.ts'
import type { Address, Pool } from '../../domain/records.ts'
import { soundly } from '../json-rpc/rpc-client.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { Protocol } from './protocols/protocol.ts'

/**
 * What a chain's markets and wallets hold, as the port `Chain` has it. Throws ChainUnavailableError, and ChainUnsoundError
 * for answers that make no sense.
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

  /** What each position is worth, in minor units. */
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

  /** Minor units of a token. */
  async balance(wallet: Address, token: Address): Promise<bigint> {
    const { chainId, reader } = this.#deps
    const [balance] = await soundly(chainId, () => reader.read([balanceOf(token, wallet)]))
    return balance
  }
}

/** What markets are read with. */
export interface MarketReadsDeps {
  chainId: string
  reader: ChainReader
  clock: SandboxClock
  protocol(pool: PoolFacts): Protocol
  /** Where prices are asked for; undefined if nobody knows. */
  oracle(): Address | undefined
}

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
