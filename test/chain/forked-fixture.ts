import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { UpstreamChain } from './upstream-chain.ts'

/** Turns the shipped fixture into one of a fork: the same pools, by address. */
export function forked({ url, market }: UpstreamChain, chain_id = '8453'): (fixture: FixtureFile) => void {
  return (fixture) => {
    fixture.chains = [{ chain_id, fork_url: url }]
    fixture.pools = ['USDC', 'WETH'].flatMap((symbol) => {
      const { address, decimals } = market.tokens[symbol]!
      const token = { chain_id, token_address: address, token_symbol: symbol, token_decimals: decimals }
      const name = symbol.toLowerCase()
      return [
        { id: `aave-${name}`, protocol: 'aave', ...token, market_address: market.aave_pool },
        { id: `morpho-${name}`, protocol: 'morpho', ...token, market_address: market.vaults[symbol]! },
      ]
    })
  }
}
