import type { Address, Pool } from './records.ts'

/** Address where clients expect Multicall3 on every chain; embedded chains have it there too. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Owns the tokens and markets of embedded chains (contracts/MarketOwner.sol). Nobody has a key to this address. */
export const MARKET_OWNER: Address = '0x9bCD6fedeE01F7192120aB8B713dE5BEe8FAD3C2'

/** A chain that the sandbox runs: an embedded one, or a fork of a real one. */
export interface ChainSetup {
  /** Numeric string. */
  chain_id: string
  /** Aave price oracle for the USD prices of the chain's tokens; undefined: the oracle of its first Aave pool. */
  price_oracle?: Address
  /** The chain to fork; undefined for an embedded chain. */
  fork?: ForkSetup
  /** The markets to check before the chain is used. */
  markets?: readonly MarketSetup[]
}

/** A chain to fork. The URL may carry credentials, so it never appears in a log or a message. */
export interface ForkSetup {
  /** Its JSON-RPC, http or https. */
  url: string
  /** The block to fork at; undefined for the latest one. */
  block_number?: number
  /** Where a person gave URL and block: a flag, or file, line and field. */
  origin: string
}

/** A market of a chain, and where in a fixture file it is named. */
export interface MarketSetup {
  pool: PoolFacts
  origin: string
}

/** A pool without its tenant. */
export type PoolFacts = Omit<Pool, 'tenant_id'>

/** Content of the embedded chain's state; written beside the state when it is built. */
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
