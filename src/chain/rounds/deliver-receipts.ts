import type { Hex } from '../../domain/records.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import { type RpcCall, type RpcClient, unsound } from '../json-rpc/rpc-client.ts'
import type { Log } from '../markets/protocols/protocol.ts'
import type { Mined } from '../writing/chain-writer.ts'
import type { SignedTransfer } from './transfer-round.ts'

/** The members of a receipt that transfers need. */
export interface Receipt {
  blockNumber: Hex
  status: Hex
  logs: Log[]
}

/** A log as `eth_getLogs` returns it. */
interface BlockLog extends Log {
  transactionHash: Hex
  blockNumber: Hex
}

/** Makes the call for the logs of transfers' markets in the latest block: a fifth of the work that receipts cost the node and us. */
export function logsOf(transfers: readonly SignedTransfer[]): RpcCall {
  const markets = new Set(transfers.map(({ pool }) => pool.market_address))
  return ['eth_getLogs', { fromBlock: 'latest', toBlock: 'latest', address: [...markets] }]
}

/**
 * Settles the transfers in the block that was just mined, with the answer to {@link logsOf}, and those in earlier blocks.
 * @returns the transfers that are not in a block
 */
export async function settleMined(
  chain: ReceiptDeps,
  transfers: readonly SignedTransfer[],
  { number, timestamp, answers: [logs] }: Mined,
): Promise<SignedTransfer[]> {
  const receipts = new Map<Hex, Receipt>()
  for (const log of Array.isArray(logs) ? (logs as BlockLog[]) : []) {
    if (Number(log.blockNumber) !== number) continue // of a later block, which is not kept
    const receipt = receipts.get(log.transactionHash)
    if (receipt) receipt.logs.push(log)
    else receipts.set(log.transactionHash, { status: '0x1', blockNumber: log.blockNumber, logs: [log] })
  }
  const silent: SignedTransfer[] = []
  for (const transfer of transfers) {
    const receipt = receipts.get(transfer.tx_hash)
    if (receipt) settle(transfer, receipt, timestamp)
    else silent.push(transfer) // a transaction that fails leaves no log
  }
  return settleKnown(chain, silent, number)
}

/**
 * Settles the transfers in blocks up to `last`, the last kept one, by their receipts.
 * @returns the transfers that are not in such a block
 */
export async function settleKnown(
  { rpc, archive }: ReceiptDeps,
  transfers: readonly SignedTransfer[],
  last: number,
): Promise<SignedTransfer[]> {
  const receipts = await rpc.batch<Receipt | null>(
    transfers.map(({ tx_hash }) => ['eth_getTransactionReceipt', tx_hash]),
  )
  // The node may have forgotten the block: many blocks from outside may follow before a transfer is finished after a restart.
  const recall = async <Answer>(method: string, ...params: unknown[]) =>
    (await archive.answer(method, params)) as Answer | null | undefined
  const missing: SignedTransfer[] = []
  for (const [index, transfer] of transfers.entries()) {
    const { tx_hash } = transfer
    const receipt = receipts[index] ?? (await recall<Receipt>('eth_getTransactionReceipt', tx_hash))
    if (!receipt || Number(receipt.blockNumber) > last) {
      missing.push(transfer)
      continue
    }
    const question = ['eth_getBlockByNumber', receipt.blockNumber, false] as const
    const block = (await recall<{ timestamp: Hex }>(...question)) ?? (await rpc.call<{ timestamp: Hex }>(...question))
    settle(transfer, receipt, Number(block.timestamp))
  }
  return missing
}

/** Resolves a transfer with the outcome of its transaction. */
function settle(transfer: SignedTransfer, receipt: Receipt, blockTimestamp: number): void {
  const { type, pool, protocol, tx_hash, amount, value_before } = transfer
  const success = Number(receipt.status) === 1
  try {
    const moved = success ? protocol.movement(type, pool, receipt.logs) : { amount, shares: 0n }
    transfer.resolve({
      ...moved,
      tx_hash,
      block_number: Number(receipt.blockNumber),
      block_timestamp: blockTimestamp,
      status: success ? 'success' : 'reverted',
      value_before,
    })
  } catch (error) {
    transfer.reject(unsound(pool.chain_id, error))
  }
}

/** Sources of receipts. */
interface ReceiptDeps {
  rpc: RpcClient
  archive: Pick<BlockArchive, 'answer'>
}
