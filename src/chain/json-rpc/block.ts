import type { Hex } from '../../domain/records.ts'
import type { RpcCall } from './rpc-client.ts'

/** A block as a node tells it (`eth_getBlockByNumber`); only the members the sandbox reads are named. */
export interface Block {
  number: Hex
  hash: Hex
  parentHash: Hex
  /** Unix seconds. */
  timestamp: Hex
  miner: Hex
  /** Hashes, or whole transactions if asked for. */
  transactions: unknown[]
  [member: string]: unknown
}

/** Asks for the latest block with its transactions' hashes. */
export const LATEST_BLOCK: RpcCall = ['eth_getBlockByNumber', 'latest', false]

/** Unix seconds of the last moment that a chain may come to: numbers of later ones would soon not be exact any more. */
export const LAST_TIMESTAMP = 2 ** 52
