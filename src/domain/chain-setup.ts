import type { Address } from './records.ts'

/** A chain the sandbox is to run. */
export interface ChainSetup {
  /** Numeric string. */
  chain_id: string
  /** Aave price oracle that prices the chain's tokens in USD. */
  price_oracle: Address
}

/** What the embedded chain's state holds: written beside the state when it is built. */
export interface EmbeddedMarket {
  chain_id: string
  /** Unix seconds of the state's last block. */
  timestamp: number
  price_oracle: Address
  /** By symbol. */
  tokens: Record<string, { address: Address; decimals: number }>
  /** The Aave V3 pool, market of every token. */
  aave_pool: Address
  /** ERC-4626 vault by the symbol of its asset. */
  vaults: Record<string, Address>
}
