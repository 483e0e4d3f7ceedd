import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import type { BlockToArchive } from './archived-block.ts'
import { isRebuildable } from './rebuilt-transaction.ts'

/**
 * Reads blocks with all they hold. `mined` holds the signed transactions of a block by its number, in their order, where
 * they are known: then the node is not asked for them.
 */
export async function readBlocks(
  rpc: RpcClient,
  numbers: readonly number[],
  mined: ReadonlyMap<number, readonly Hex[]>,
): Promise<BlockToArchive[]> {
  const known = numbers.map((number) => {
    const signed = mined.get(number)
    return signed?.every(isRebuildable) ? { signed } : undefined
  })
  const answers = await rpc.batch<unknown>(
    numbers.flatMap((number, i): RpcCall[] => [
      ['eth_getBlockByNumber', numberToHex(number), !known[i]],
      ['eth_getBlockReceipts', numberToHex(number)],
    ]),
  )
  return known.map(
    (signed, i) => ({ block: answers[2 * i], receipts: answers[2 * i + 1], ...signed }) as BlockToArchive,
  )
}
