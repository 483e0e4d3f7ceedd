import type { ChainSetup, MarketSetup, PoolFacts } from '../../domain/chain-setup.ts'
import { ChainSetupError, ChainUnavailableError } from '../../domain/ports/chain.ts'
import type { Address } from '../../domain/records.ts'
import { allInOrder } from '../../support/waiting.ts'
import type { Reader } from '../reading/view.ts'
import { aave, priceOracleOf } from './protocols/aave.ts'
import { decimalsOf, type Protocol, priceOf, UnfitMarketError } from './protocols/protocol.ts'

/** Findings about a chain's markets, made before the chain is used. */
export interface MarketValidation {
  /** Undefined if the chain has neither a configured oracle nor an Aave market. */
  priceOracle: Address | undefined
  /** Returns the protocol version of a pool's market; undefined for a market that was not surveyed. */
  protocol(pool: PoolFacts): Protocol | undefined
}

/**
 * Checks every market of a chain: it must be as the fixture describes it, and its token must have a price. Finds the version of its
 * protocol. Throws {@link ChainSetupError} that names the fixture's line.
 */
export async function validateMarkets(
  { chain_id, price_oracle, fork, markets = [] }: ChainSetup,
  protocols: ReadonlyMap<string, Protocol>,
  reader: Reader,
): Promise<MarketValidation> {
  const families = markets.map(({ pool }) => protocols.get(pool.protocol))
  const found = await allInOrder(
    markets.map((market, i) => examine(market, families[i], reader, `chain ${chain_id}${fork ? '' : ', embedded,'}`)),
  )
  const lender = markets.find((_, i) => families[i] === aave)
  const priceOracle = price_oracle ?? (lender && (await priceOracleOf(reader, lender.pool.market_address)))
  const versions = new Map(markets.map(({ pool }, i) => [keyOf(pool), found[i]]))
  await allInOrder(markets.map((market) => priced(market, priceOracle, reader)))
  return { priceOracle, protocol: (pool) => versions.get(keyOf(pool)) }
}

async function examine(
  { pool, origin }: MarketSetup,
  protocol: Protocol | undefined,
  reader: Reader,
  chain: string,
): Promise<Protocol | undefined> {
  const kind = protocol === aave ? 'Aave V3 pool' : 'ERC-4626 vault'
  const version = await protocol?.survey(reader, pool).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) throw error
    const why = error instanceof UnfitMarketError ? error.message : `is no ${kind} that ${chain} knows`
    throw new ChainSetupError(
      origin,
      `the market ${pool.market_address} ${why}`,
      'check the address and the chain',
      error,
    )
  })
  const decimals = await reader([decimalsOf(pool.token_address)]).then(
    ([count]) => count,
    (error: unknown) => {
      if (error instanceof ChainUnavailableError) throw error
      throw new ChainSetupError(origin, `${pool.token_address} is no ERC-20 token`, 'check token_address', error)
    },
  )
  if (decimals === pool.token_decimals) return version
  const message = `the token ${pool.token_address} has ${decimals} decimals, not ${pool.token_decimals}`
  throw new ChainSetupError(origin, message, 'correct token_decimals')
}

async function priced({ pool, origin }: MarketSetup, oracle: Address | undefined, reader: Reader): Promise<void> {
  if (!oracle) return
  const price = await reader([priceOf(oracle, pool.token_address)]).then(
    ([found]) => found,
    (error: unknown) => {
      if (error instanceof ChainUnavailableError) throw error
      return 0n
    },
  )
  if (price > 0n) return
  const message = `the price oracle ${oracle} has no price of ${pool.token_symbol} (${pool.token_address})`
  throw new ChainSetupError(origin, message, 'give the chain a price_oracle that knows the token')
}

function keyOf({ protocol, market_address, token_address }: PoolFacts): string {
  return `${protocol} ${market_address} ${token_address}`.toLowerCase()
}
