import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
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
function rebuiltTransaction(raw: Hex, receipt: ArchivedReceipt, blockTimestamp: Hex): ArchivedTransaction {
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

/** Consecutive blocks, compressed, with the keys that an index needs. Strings are base64. */
export interface ArchiveSegmentEntry {
  /** Number of the first block. */
  first: number
  /** Number of transactions in each block. */
  counts: readonly number[]
  /** The key of each block's hash, {@link KEY_BYTES} bytes long. */
  hashes: string
  /** For each transaction the key of its hash, and a byte: 1 if it was successful. */
  transactions: string
  /** The blocks as JSON, compressed with Brotli. */
  blocks: string
}

/** A segment in memory: the same as its entry, but decoded from base64. */
export interface ArchiveSegment {
  readonly first: number
  /** Number of the last block. Blocks that were compressed with it and come later are hidden. */
  readonly last: number
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly transactions: Buffer
  readonly blocks: Buffer
}

/** Number of leading bytes of a hash that are its key in an index: as many as fit into a safe integer of JavaScript. */
export const KEY_BYTES = 6
const TRANSACTION_BYTES = KEY_BYTES + 1

/** Brotli quality at which it is as fast as Deflate at its usual level, but makes blocks a third smaller. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** @returns the key of a hash in an index, as a number */
export function keyOf(hash: string): number {
  return Number.parseInt(hash.slice(2, 2 + 2 * KEY_BYTES), 16)
}

/** Compresses consecutive blocks; `json` holds the JSON of each. */
export async function packSegment(
  archived: readonly BlockToArchive[],
  json: readonly string[],
): Promise<ArchiveSegmentEntry> {
  const transactions = archived.flatMap(({ receipts }) =>
    receipts.map(({ transactionHash, status }) => {
      return `${transactionHash.slice(2, 2 + 2 * KEY_BYTES)}${Number(status) === 1 ? '01' : '00'}`
    }),
  )
  const hashes = archived.map(({ block }) => block.hash.slice(2, 2 + 2 * KEY_BYTES))
  return {
    first: Number(archived[0]?.block.number),
    counts: archived.map(({ block }) => block.transactions.length),
    hashes: Buffer.from(hashes.join(''), 'hex').toString('base64'),
    transactions: Buffer.from(transactions.join(''), 'hex').toString('base64'),
    blocks: (await compress(`[${json.join(',')}]`, QUALITY)).toString('base64'),
  }
}

/** Decodes an entry. */
export function segmentOf({ first, counts, hashes, transactions, blocks }: ArchiveSegmentEntry): ArchiveSegment {
  return {
    first,
    last: first + counts.length - 1,
    counts,
    hashes: Buffer.from(hashes, 'base64'),
    transactions: Buffer.from(transactions, 'base64'),
    blocks: Buffer.from(blocks, 'base64'),
  }
}

/** Encodes a segment with all its blocks, those after `last` included. */
export function entryOf({ first, counts, hashes, transactions, blocks }: ArchiveSegment): ArchiveSegmentEntry {
  return {
    first,
    counts,
    hashes: hashes.toString('base64'),
    transactions: transactions.toString('base64'),
    blocks: blocks.toString('base64'),
  }
}

/** Decompresses a segment. Throws RangeError if that gives more than `limit` bytes. */
export async function unpackSegment({ first, last, blocks }: ArchiveSegment, limit?: number): Promise<ArchivedBlock[]> {
  const all = JSON.parse((await decompress(blocks, { maxOutputLength: limit })).toString()) as BlockToArchive[]
  return all.slice(0, last - first + 1).map(withTransactions)
}

function withTransactions(archived: BlockToArchive): ArchivedBlock {
  if (!('signed' in archived)) return archived
  const { block, receipts, signed } = archived
  const transactions = receipts.map((receipt, i) => rebuiltTransaction(signed[i] ?? '0x', receipt, block.timestamp))
  return { block: { ...block, transactions }, receipts }
}

/** Yields key and number of each block of a segment, from the block number `from` on. */
export function* blocksOf(
  { first, last, hashes }: ArchiveSegment,
  from = first,
): Generator<[key: number, number: number]> {
  for (let number = Math.max(from, first); number <= last; number++) {
    yield [hashes.readUIntBE((number - first) * KEY_BYTES, KEY_BYTES), number]
  }
}

/** Yields the key of each transaction of a segment, from the block number `from` on, and true if it was successful. */
export function* transactionsOf(
  segment: ArchiveSegment,
  from = segment.first,
): Generator<[key: number, success: boolean]> {
  const { first, last, counts, transactions } = segment
  const before = (number: number) => counts.slice(0, Math.max(0, number - first)).reduce((sum, count) => sum + count, 0)
  const end = before(last + 1)
  for (let index = before(from); index < end; index++) {
    const at = index * TRANSACTION_BYTES
    yield [transactions.readUIntBE(at, KEY_BYTES), transactions[at + KEY_BYTES] === 1]
  }
}
