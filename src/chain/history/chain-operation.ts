import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'

/**
 * One change of a chain. The same changes in the same order make the same chain: the same blocks, hashes and balances.
 * It is written to the data directory: a change of its meaning is a new format.
 */
export type ChainOperation =
  /** Calls of Anvil's own that change balances, allowances or code directly; of one batch none depends on another's order. */
  | { cheat: readonly RpcCall[] }
  /** Takes a transaction that cannot be mined out of the pool. */
  | { drop: Hex }
  | MineOperation

/** A block at that time (Unix seconds), of these signed transactions, sent in this order. */
export interface MineOperation {
  mine: number
  send?: readonly Hex[]
  miner?: Hex
  /** The block's; absent while it is not known, as of a block that is to take another's place. */
  hash?: Hex
}

/** The miner of a block that names none. */
export const NOBODY = numberToHex(0, { size: 20 })

/** Does again what was done before. Refusals of the pool are those of the first time. Throws what the node throws. */
export async function perform(rpc: RpcClient, operation: ChainOperation): Promise<void> {
  if ('cheat' in operation) await rpc.batch(operation.cheat)
  else if ('drop' in operation) await rpc.call('anvil_dropTransaction', operation.drop)
  else {
    // One by one: the calls of a batch are carried out in any order.
    for (const raw of operation.send ?? []) await rpc.settle([['eth_sendRawTransaction', raw]])
    await mine(rpc, operation.mine, operation.miner)
  }
}

/** Mines a block at that time (Unix seconds). */
export async function mine(rpc: RpcClient, timestamp: number, miner?: Hex): Promise<void> {
  if (miner) await rpc.call('anvil_setCoinbase', miner)
  await rpc.call('evm_mine', { timestamp })
  if (miner) await rpc.call('anvil_setCoinbase', NOBODY)
}
