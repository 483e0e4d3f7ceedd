import type { PoolFacts } from '../../domain/chain-setup.ts'
import type { SandboxClock } from '../../domain/clock.ts'
import type { MarketFigures, Position } from '../../domain/ports/chain.ts'
import type { Address, Pool } from '../../domain/records.ts'
import { soundly } from '../json-rpc/senseless-answer.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import { MarketCache } from './market-cache.ts'
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
