import type { Address, Hex } from '../records.ts'

/** A token, and what its amounts are called. */
export interface NamedToken {
  address: Address
  symbol: string
  decimals: number
}

/** Addresses that have a name in the ledger. */
export interface KnownAddresses {
  tokens: readonly NamedToken[]
  /** A market takes one token or several. */
  markets: readonly { address: Address; name: string; token: Address }[]
  /** Name of the end user who owns a wallet, by its address in lower case. */
  wallets: ReadonlyMap<string, string>
}

/** A transaction as `eth_getTransactionByHash` answers; numbers are hexadecimal quantities. */
export interface ChainTransaction {
  hash: Hex
  from: Address
  /** Null for the creation of a contract. */
  to: Address | null
  input: Hex
  value: Hex
  nonce: Hex
  gas: Hex
  /** Null until it is mined. */
  blockNumber: Hex | null
}

/** An event as a receipt has it. */
export interface ChainLog {
  address: Address
  topics: readonly Hex[]
  data: Hex
}

/** A receipt as `eth_getTransactionReceipt` answers. */
export interface ChainReceipt {
  status: Hex
  gasUsed: Hex
  blockNumber: Hex
  logs: readonly ChainLog[]
}

/** A transaction in words. */
export interface WordedTransaction {
  /** "Supply 1,000.00 USDC to Aave for alice." */
  sentence: string
  /** Name of the function and its arguments; null for an unknown one. */
  call: string | null
  events: { sentence: string; name: string | null; contract: string; address: string }[]
}

/** Decodes what stands on a chain, by the interfaces that the protocols know. What contracts say is text from outside. */
export interface ChainWords {
  /** Puts a transaction into words; without a receipt, what it asks for. */
  describe(transaction: ChainTransaction, receipt: ChainReceipt | undefined, known: KnownAddresses): WordedTransaction
  /** Decodes the data that a reverted call returned; undefined if they say nothing. */
  reasonIn(data: string): string | undefined
  /** Reads a signed transaction. */
  parse(signed: Hex, sender: Address, hash: Hex): ChainTransaction
}
