import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { type ArchivedBlock, type BlockToArchive, rebuiltTransaction } from './archived-block.ts'

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

/** Decompresses a segment. */
export async function unpackSegment({ first, last, blocks }: ArchiveSegment): Promise<ArchivedBlock[]> {
  const all = JSON.parse((await decompress(blocks)).toString()) as BlockToArchive[]
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
