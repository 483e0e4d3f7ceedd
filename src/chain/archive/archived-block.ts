import { fromRlp, numberToHex } from 'viem/utils'
import type { Address, Hex } from '../../domain/records.ts'
import type { Block } from '../json-rpc/block.ts'

/** A transaction as `eth_getTransactionByHash` returns it; the members that the archive reads are typed. */
export interface ArchivedTransaction {
  hash: Hex
  [member: string]: unknown
}

/** A receipt as `eth_getTransactionReceipt` returns it; the members that the archive reads are typed. */
export interface ArchivedReceipt {
  status: Hex
  logs: FilteredLog[]
  transactionHash: Hex
  [member: string]: unknown
}

interface FullBlock extends Block {
  transactions: ArchivedTransaction[]
}

/** A block with its transactions and receipts: `eth_getBlockByNumber(n, true)` and `eth_getBlockReceipts(n)`. */
export interface ArchivedBlock {
  block: FullBlock
  receipts: ArchivedReceipt[]
}

/** A block as the archive takes it. If the signed bytes of its transactions are known, they stand for the transactions. */
export type BlockToArchive = ArchivedBlock | { block: Block; receipts: ArchivedReceipt[]; signed: readonly Hex[] }

/** The members of a receipt's log that a filter reads. */
export interface FilteredLog {
  address: Address
  topics: Hex[]
}

/** The part of an `eth_getLogs` filter that can be checked against a single log. */
export interface LogFilter {
  /** An address or a list of addresses; undefined or an empty list matches any. */
  address?: unknown
  /** For each position: null for any topic, a topic, or a list of topics of which one must match. */
  topics?: unknown
}

/** @returns true if a log matches, by the rules of `eth_getLogs` */
export function matchesLog({ address, topics }: LogFilter, log: FilteredLog): boolean {
  const places = Array.isArray(topics) ? topics : []
  return isAmong(address, log.address) && places.every((wanted, place) => isAmong(wanted, log.topics[place]))
}

function isAmong(wanted: unknown, value: string | undefined): boolean {
  if (wanted === null || wanted === undefined || (Array.isArray(wanted) && wanted.length === 0)) return true
  return [wanted].flat().some((one) => one === null || String(one).toLowerCase() === value)
}

/** First byte of a signed transaction with a priority fee (EIP-1559). */
const EIP1559 = '0x02'

/** @returns true if {@link rebuiltTransaction} supports this type of signed transaction */
export function isRebuildable(raw: Hex): boolean {
  return raw.startsWith(EIP1559)
}

/**
 * Makes Anvil's answer to `eth_getTransactionByHash` for a mined transaction from its signed bytes and its receipt. Anvil would
 * recover the sender from the signature again, which is four times the work of all other queries about a block.
 */
export function rebuiltTransaction(raw: Hex, receipt: ArchivedReceipt, blockTimestamp: Hex): ArchivedTransaction {
  const [chainId, nonce, tip, fee, gas, to, value, input, accessList, yParity, r, s] = fromRlp(
    `0x${raw.slice(EIP1559.length)}`,
  ) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex, Hex, [Hex, Hex[]][], Hex, Hex, Hex]
  const { transactionHash, blockHash, blockNumber, transactionIndex, from, effectiveGasPrice } = receipt
  return {
    type: '0x2',
    chainId: quantity(chainId),
    nonce: quantity(nonce),
    gas: quantity(gas),
    maxFeePerGas: quantity(fee),
    maxPriorityFeePerGas: quantity(tip),
    to: to === '0x' ? null : to,
    value: quantity(value),
    accessList: accessList.map(([address, storageKeys]) => ({ address, storageKeys })),
    input,
    r: quantity(r),
    s: quantity(s),
    yParity: quantity(yParity),
    v: quantity(yParity),
    hash: transactionHash,
    blockHash,
    blockNumber,
    transactionIndex,
    from,
    gasPrice: effectiveGasPrice,
    blockTimestamp,
  }
}

/** Formats a number as JSON-RPC does, without leading zeros. */
function quantity(bytes: Hex): Hex {
  return numberToHex(BigInt(bytes === '0x' ? 0 : bytes))
}
