import type { Chain } from '../domain/ports/chain.ts'
import type { ChainReceipt, ChainTransaction } from '../domain/ports/chain-words.ts'
import type { Hex } from '../domain/records.ts'
import { type ChainCall, chainAnswers } from './chain-calls.ts'

/** Transactions that are read together: more of the largest size would be too long for the budget of a request. */
const LONG_TOGETHER = 5

/** A block with the hashes of its transactions. */
interface BlockOutline {
  number: number
  /** Unix seconds. */
  timestamp: number
  hashes: Hex[]
}

/** A mined transaction, before it is read. */
export interface MinedPlace {
  hash: Hex
  block_number: number
  /** Place in its block. */
  index: number
  /** Time of its block, Unix seconds. */
  timestamp: number
}

/** Place in a chain from which a page goes down: transactions below it are shown. */
export interface HistoryPosition {
  block: number
  /** Of this block only transactions below this place; undefined: none of it. */
  index?: number | undefined
}

/** Blocks that are read together. */
const AT_ONCE = 50
/** Most blocks that are looked through for one page: moves of the clock and readers of the chain mine empty ones. */
const MOST_BLOCKS = 1000

/**
 * Finds the newest transactions below a place, at most `limit`, and the place where the next page begins; undefined at the beginning of
 * the chain. Looks through so many blocks at most, so that a page may have fewer.
 */
export async function placesBelow(
  chain: Chain,
  { first, last }: { first: number; last: number },
  before: HistoryPosition | undefined,
  limit: number,
): Promise<{ places: MinedPlace[]; next: HistoryPosition | undefined }> {
  const places: MinedPlace[] = []
  const top = before === undefined ? last : Math.min(last, before.index === undefined ? before.block - 1 : before.block)
  let bottom = top + 1
  for (let looked = 0; bottom > first && looked < MOST_BLOCKS; looked += AT_ONCE) {
    const from = Math.max(first, bottom - AT_ONCE)
    for (const block of (await outlines(chain, from, bottom - 1)).reverse()) {
      const below = before?.block === block.number ? before.index : undefined
      const found = placesIn(block, below).slice(0, limit - places.length)
      places.push(...found)
      const lowest = found.at(-1)
      if (places.length === limit && lowest) return { places, next: nextBelow(lowest, first) }
    }
    bottom = from
  }
  return { places, next: bottom > first ? { block: bottom } : undefined }
}

function nextBelow({ block_number, index }: MinedPlace, first: number): HistoryPosition | undefined {
  if (index > 0) return { block: block_number, index }
  return block_number > first ? { block: block_number } : undefined
}

/** The transactions of a block, the last one first. */
function placesIn({ number, timestamp, hashes }: BlockOutline, below = hashes.length): MinedPlace[] {
  return hashes
    .slice(0, below)
    .map((hash, index) => ({ hash, block_number: number, index, timestamp }))
    .reverse()
}

async function outlines(chain: Chain, from: number, to: number): Promise<BlockOutline[]> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
  const blocks = await chainAnswers<{ timestamp: Hex; transactions: Hex[] }>(
    chain,
    numbers.map((number): ChainCall => ['eth_getBlockByNumber', hexOf(number), false]),
  )
  return blocks.flatMap((block, i) =>
    block ? [{ number: from + i, timestamp: Number(block.timestamp), hashes: block.transactions }] : [],
  )
}

/** A transaction with its receipt; undefined parts are not known, or not mined yet. */
export interface ReadTransaction {
  transaction: ChainTransaction | undefined
  receipt: ChainReceipt | undefined
}

/** Reads transactions, with receipts. */
export async function readTransactions(chain: Chain, hashes: readonly Hex[]): Promise<ReadTransaction[]> {
  const transactions = await chainAnswers<ChainTransaction>(
    chain,
    hashes.map((hash): ChainCall => ['eth_getTransactionByHash', hash]),
    LONG_TOGETHER,
  )
  const receipts = await chainAnswers<ChainReceipt>(
    chain,
    hashes.map((hash): ChainCall => ['eth_getTransactionReceipt', hash]),
    LONG_TOGETHER,
  )
  return hashes.map((_, i) => ({ transaction: transactions[i], receipt: receipts[i] }))
}

/** Reads the time of a block in Unix seconds; undefined if it is not known. */
export async function timeOfBlock(chain: Chain, number: number): Promise<number | undefined> {
  const [block] = await chainAnswers<{ timestamp: Hex }>(chain, [['eth_getBlockByNumber', hexOf(number), false]])
  return block && Number(block.timestamp)
}

function hexOf(number: number): Hex {
  return `0x${number.toString(16)}`
}
