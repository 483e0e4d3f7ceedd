import type { PoolFacts } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { MarketFigures, Position } from '../domain/ports/chain.ts'
import type { Address, Pool } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import { MarketCache } from './market-cache.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { Protocol } from './protocols/protocol.ts'
import { soundly } from './senseless-answer.ts'

/** What markets are read with. */
export interface MarketReadsParts {
  chainId: string
  state: ChainState
  clock: SandboxClock
  protocol(pool: PoolFacts): Protocol
  /** Where prices are asked for; undefined if nobody knows. */
  oracle(): Address | undefined
}

/**
 * What a chain's markets and wallets hold, as the port `Chain` has it. Throws ChainUnavailableError, and ChainUnsoundError
 * for answers that make no sense.
 */
export class MarketReads {
  readonly #parts: MarketReadsParts
  readonly #cache: MarketCache

  constructor(parts: MarketReadsParts) {
    this.#parts = parts
    this.#cache = new MarketCache(parts.state, parts.clock)
  }

  market(pool: Pool): Promise<MarketFigures> {
    const { chainId, state, protocol, oracle } = this.#parts
    return this.#cache.get(pool, () =>
      soundly(chainId, async () => {
        const prices = oracle()
        if (!prices) throw new Error(`chain ${chainId} has no price oracle`)
        return protocol(pool).market(state.read, pool, prices)
      }),
    )
  }

  /** What each position is worth, in minor units. */
  async values(positions: readonly Position[]): Promise<bigint[]> {
    if (positions.length === 0) return []
    const { chainId, state, protocol } = this.#parts
    const valuations = positions.map(({ pool, shares }) => protocol(pool).valuation(pool, shares))
    const answers = await soundly(chainId, () => state.read(valuations.map(({ read }) => read)))
    return valuations.map(({ worth }, index) => worth(answers[index] ?? 0n))
  }

  shares(wallet: Address, pool: Pool): Promise<bigint> {
    const { chainId, state, protocol } = this.#parts
    return soundly(chainId, () => protocol(pool).shares(state.read, pool, wallet))
  }

  /** Minor units of a token. */
  async balance(wallet: Address, token: Address): Promise<bigint> {
    const { chainId, state } = this.#parts
    const [balance] = await soundly(chainId, () => state.read([balanceOf(token, wallet)]))
    return balance
  }
}
