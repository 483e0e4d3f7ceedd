import type { Hex } from '../../domain/records.ts'
import type { RpcCall } from './rpc-client.ts'

/** A block as a node returns it (`eth_getBlockByNumber`); only the members that the sandbox reads are typed. */
export interface Block {
  number: Hex
  hash: Hex
  parentHash: Hex
  /** Unix seconds. */
  timestamp: Hex
  miner: Hex
  /** Hashes, or whole transactions on request. */
  transactions: unknown[]
  [member: string]: unknown
}

/** The call that returns the latest block with its transactions' hashes. */
export const LATEST_BLOCK: RpcCall = ['eth_getBlockByNumber', 'latest', false]

/** Latest time in Unix seconds that a chain may reach: soon after it, numbers would no longer be exact. */
export const LAST_TIMESTAMP = 2 ** 52
