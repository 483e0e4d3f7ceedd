import { numberToHex } from 'viem/utils'
import type { Hex } from '../domain/records.ts'
import type { ArchivedBlock } from './archive-segment.ts'
import { isRebuildable, minedTransaction } from './mined-transaction.ts'
import type { Call, Rpc } from './rpc.ts'

/**
 * Reads blocks with all they hold, as the archive keeps them. `mined` holds the signed transactions of a block by its
 * number, in their order, where they are known: then the node is not asked for them.
 */
export async function readBlocks(
  rpc: Rpc,
  numbers: readonly number[],
  mined: ReadonlyMap<number, readonly Hex[]>,
): Promise<ArchivedBlock[]> {
  const known = numbers.map((number) => mined.get(number)?.every(isRebuildable) ?? false)
  const answers = await rpc.batch<unknown>(
    numbers.flatMap((number, i): Call[] => [
      ['eth_getBlockByNumber', numberToHex(number), !known[i]],
      ['eth_getBlockReceipts', numberToHex(number)],
    ]),
  )
  return numbers.map((number, i) => {
    const { block, receipts } = { block: answers[2 * i], receipts: answers[2 * i + 1] } as ArchivedBlock
    if (!known[i]) return { block, receipts }
    const raws = mined.get(number) ?? []
    const transactions = receipts.map((receipt, at) => minedTransaction(raws[at] ?? '0x', receipt, block.timestamp))
    return { block: { ...block, transactions }, receipts }
  })
}
