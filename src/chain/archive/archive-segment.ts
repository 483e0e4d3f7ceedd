import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { type ArchivedBlock, type BlockToArchive, rebuiltTransaction } from './archived-block.ts'

/** Consecutive blocks, compressed, with what an index needs of them. Texts are base64. */
export interface ArchiveSegmentEntry {
  /** Number of the first block. */
  first: number
  /** Transactions in each block. */
  counts: readonly number[]
  /** {@link KEY_BYTES} of each block's hash. */
  hashes: string
  /** For each transaction {@link KEY_BYTES} of its hash, and a byte: 1 if it was successful. */
  transactions: string
  /** The blocks as JSON, compressed with Brotli. */
  blocks: string
}

/** A segment in memory: as its entry, without base64. */
export interface ArchiveSegment {
  readonly first: number
  /** Number of the last block; what was compressed with it beyond that is not to be seen. */
  readonly last: number
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly transactions: Buffer
  readonly blocks: Buffer
}

/** Bytes of a hash that stand for it in an index: as many as make a whole number in JavaScript. */
export const KEY_BYTES = 6
const TRANSACTION_BYTES = KEY_BYTES + 1

/** As fast as Deflate at its usual level, and a third smaller on blocks. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** A hash's place in an index. */
export function keyOf(hash: string): number {
  return Number.parseInt(hash.slice(2, 2 + 2 * KEY_BYTES), 16)
}

/** Compresses consecutive blocks; `json` is their texts. */
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

/** The segment an entry stands for. */
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

/** The entry that stands for a segment, as if nothing of it had been cut off. */
export function entryOf({ first, counts, hashes, transactions, blocks }: ArchiveSegment): ArchiveSegmentEntry {
  return {
    first,
    counts,
    hashes: hashes.toString('base64'),
    transactions: transactions.toString('base64'),
    blocks: blocks.toString('base64'),
  }
}

/** A segment's blocks. */
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

/** Keys and numbers of a segment's blocks from a number on. */
export function* blocksOf(
  { first, last, hashes }: ArchiveSegment,
  from = first,
): Generator<[key: number, number: number]> {
  for (let number = Math.max(from, first); number <= last; number++) {
    yield [hashes.readUIntBE((number - first) * KEY_BYTES, KEY_BYTES), number]
  }
}

/** Keys of a segment's transactions from a block's number on, and whether each was successful. */
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
