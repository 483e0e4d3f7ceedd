import type { Hex } from '../../domain/records.ts'
import type { Block } from '../json-rpc/block.ts'
import type { FilteredLog } from './log-filter.ts'

/** A transaction as `eth_getTransactionByHash` gives it, as far as the archive looks at it. */
export interface ArchivedTransaction {
  hash: Hex
  [member: string]: unknown
}

/** A receipt as `eth_getTransactionReceipt` gives it, as far as the archive looks at it. */
export interface ArchivedReceipt {
  status: Hex
  logs: FilteredLog[]
  transactionHash: Hex
  [member: string]: unknown
}

interface FullBlock extends Block {
  transactions: ArchivedTransaction[]
}

/** A block with all it holds: `eth_getBlockByNumber(n, true)` and `eth_getBlockReceipts(n)`. */
export interface ArchivedBlock {
  block: FullBlock
  receipts: ArchivedReceipt[]
}

/** A block as it is put into the archive: its transactions follow from their signed bytes, where those are known. */
export type BlockToArchive = ArchivedBlock | { block: Block; receipts: ArchivedReceipt[]; signed: readonly Hex[] }
