import type { Address, Hex, Pool } from '../records.ts'

/** How a transaction went, by the chain's word. */
export type TransactionOutcome = 'success' | 'reverted' | 'unknown'

/**
 * The chains' own word on wallets and transactions, for the audit. Questions asked together are answered in one round
 * trip per chain, however many. Every method throws `ChainUnavailableError` when the chain cannot be reached.
 */
export interface ChainObserver {
  /** Tokens in a wallet, in minor units. */
  balance(chainId: string, token: Address, wallet: Address): Promise<bigint>
  /** All that a wallet holds in a pool, in the unit of `Portfolio.shares`. */
  holding(pool: Pool, wallet: Address): Promise<bigint>
  outcome(chainId: string, hash: Hex): Promise<TransactionOutcome>
}
