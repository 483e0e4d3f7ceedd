import type { RpcTransaction, TransactionSerializable } from 'viem'
import { formatTransaction, serializeTransaction } from 'viem/utils'
import type { Journal } from '../../domain/ports/journal.ts'
import type { Hex } from '../../domain/records.ts'
import { breathe } from '../../support/breathe.ts'
import { RecentlyUsed } from '../../support/maps.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import {
  type ArchivedBlock,
  type ArchiveSegment,
  type ArchiveSegmentEntry,
  type BlockToArchive,
  blocksOf,
  entryOf,
  type FilteredLog,
  keyOf,
  type LogFilter,
  matchesLog,
  packSegment,
  segmentOf,
  transactionsOf,
  unpackSegment,
} from './archived-block.ts'

/** An entry of an archive's journal: either blocks are added, or all blocks from the number `truncated` on are removed. */
export type ArchiveEntry = ArchiveSegmentEntry | { truncated: number }

/** Largest number of blocks in a segment, and of characters of their JSON: a transaction is 4 to 5 KB. */
const SEGMENT_BLOCKS = 64
const SEGMENT_SIZE = 1024 * 1024
/** Number of segments that are kept unpacked; each is a few megabytes. */
const UNPACKED = 4

/**
 * The blocks that Anvil has forgotten, compressed to less than 300 bytes a transaction, and its answers about them. Each
 * {@link BlockArchive.append} makes a segment of its own, so many blocks at once take less space.
 */
export class BlockArchive {
  /** Hear of the number of each new block of the chain, which comes into the archive later. */
  readonly watchers = new Set<(number: number) => void>()
  #journal: Journal<ArchiveEntry> | undefined
  readonly #queue = new SerialQueue()
  #segments: ArchiveSegment[] = []
  /** Number of segments, from the first on, that are in the indexes below. */
  #indexed = 0
  /** By the key of a transaction's hash: twice the position of its segment, plus one if it was successful. */
  readonly #transactions = new Map<number, number>()
  /** Block numbers by the key of the block's hash. */
  readonly #blocks = new Map<number, number>()
  readonly #unpacked = new RecentlyUsed<ArchiveSegment, Promise<ArchivedBlock[]>>(UNPACKED)

  /** Resolves when the journal has been read. Rejects if the journal cannot be read: the archive is then unusable. */
  readonly opened: Promise<void>

  /**
   * Begins to read the journal. Without a journal, blocks are kept in memory only. If `begin` gives the blocks of another
   * archive, they replace the content of the journal.
   */
  constructor(journal?: Promise<Journal<ArchiveEntry>>, begin?: readonly ArchiveSegment[]) {
    this.opened = this.#queue.run(async () => {
      this.#journal = await journal
      if (begin) {
        await this.#journal?.rewrite(begin.flatMap(entriesOf))
        this.#segments = [...begin]
      } else for await (const entry of this.#journal?.read() ?? []) this.#apply(entry)
      this.#indexInTurns().catch(() => undefined) // the first caller who needs an index gets the error again
    })
    this.opened.catch(() => undefined) // callers who await it get the error
  }

  /** Number of the first block; undefined if the archive is empty. */
  get first(): number | undefined {
    return this.#segments[0]?.first
  }

  /** All blocks, with which another archive can begin. Segments never change. */
  get segments(): readonly ArchiveSegment[] {
    return [...this.#segments]
  }

  /** Frees the memory of recently unpacked segments. */
  rest(): void {
    this.#unpacked.clear()
  }

  /** Number of the last block; undefined if the archive is empty. */
  get last(): number | undefined {
    return this.#segments.at(-1)?.last
  }

  /** Adds blocks, which must follow the last one and each other. They are in the journal when the promise resolves. */
  append(blocks: readonly BlockToArchive[]): Promise<void> {
    return this.#queue.run(async () => {
      let next = this.last === undefined ? Number(blocks[0]?.block.number) : this.last + 1
      for (const { block } of blocks) {
        if (Number(block.number) !== next++) throw new Error(`block ${Number(block.number)} does not follow the last`)
      }
      for (const [archived, json] of portions(blocks)) await this.#keep(await packSegment(archived, json))
    })
  }

  /** @returns the outcome of an archived transaction, from the index alone; undefined if the archive does not have it */
  outcome(hash: string): 'success' | 'reverted' | undefined {
    const place = this.#placeOf(hash)
    if (place === undefined) return undefined
    return place % 2 === 1 ? 'success' : 'reverted'
  }

  /** @returns true if {@link answer} supports this method */
  mayAnswer(method: string): boolean {
    return answerOfTransaction.has(method) || answerOfBlock.has(method)
  }

  /**
   * Gives the answer that Anvil gave when the block was fresh.
   * @returns undefined if the archive does not know the answer; in the rare case that a hash only shares its key with an archived
   * one, a promise of undefined
   */
  answer(method: string, params: readonly unknown[]): Promise<unknown> | undefined {
    const [subject, detail] = params
    const ofTransaction = answerOfTransaction.get(method)
    if (ofTransaction) {
      const place = typeof subject === 'string' ? this.#placeOf(subject) : undefined
      const segment = place === undefined ? undefined : this.#segments[Math.floor(place / 2)]
      return segment && this.#ofTransaction(segment, String(subject).toLowerCase(), ofTransaction)
    }
    const ofBlock = answerOfBlock.get(method)
    const number = ofBlock && this.numberOf(subject)
    const segment = number === undefined ? undefined : this.#segmentAt(number)
    return ofBlock && segment && this.#ofBlock(segment, { number, subject }, (block) => ofBlock(block, detail, subject))
  }

  /** Finds the matching logs of archived blocks from `from` to `to`, both included. Unpacks every segment in that range. */
  async logs(filter: LogFilter, from: number, to: number): Promise<FilteredLog[]> {
    const found: FilteredLog[] = []
    for (const segment of this.#segments.filter(({ first, last }) => first <= to && last >= from)) {
      for (const { block, receipts } of await this.#unpack(segment)) {
        const number = Number(block.number)
        if (number < from || number > to) continue
        for (const { logs } of receipts) found.push(...logs.filter((log) => matchesLog(filter, log)))
      }
    }
    return found
  }

  /** Removes the block `from` and all later ones: the chain was reverted to an earlier block. */
  truncate(from: number): Promise<void> {
    return this.#queue.run(async () => {
      if (this.last !== undefined && this.last >= from) await this.#keep({ truncated: from })
    })
  }

  /** Removes all blocks. */
  clear(): Promise<void> {
    return this.#queue.run(async () => {
      await this.#journal?.rewrite([])
      this.#cut(0)
    })
  }

  async #keep(entry: ArchiveEntry): Promise<void> {
    await this.#journal?.append(entry)
    this.#apply(entry)
  }

  #apply(entry: ArchiveEntry): void {
    if ('truncated' in entry) this.#cut(entry.truncated)
    else this.#segments.push(segmentOf(entry))
  }

  /** Looks a transaction up in {@link #transactions}. */
  #placeOf(hash: string): number | undefined {
    this.#index()
    return this.#transactions.get(keyOf(hash))
  }

  /** Brings the indexes up to date. */
  #index(): void {
    while (this.#indexed < this.#segments.length) this.#indexNext()
  }

  /** As {@link #index}, but yields to other work after each segment: a start does not need the indexes. */
  async #indexInTurns(): Promise<void> {
    while (this.#indexed < this.#segments.length) {
      this.#indexNext()
      await breathe()
    }
  }

  #indexNext(): void {
    const segment = this.#segments[this.#indexed]
    if (!segment) return
    const place = 2 * this.#indexed++
    for (const [key, number] of blocksOf(segment)) this.#blocks.set(key, number)
    for (const [key, success] of transactionsOf(segment)) this.#transactions.set(key, success ? place + 1 : place)
  }

  #cut(from: number): void {
    const left: ArchiveSegment[] = []
    for (const segment of this.#segments) {
      if (segment.last < from) {
        left.push(segment)
        continue
      }
      for (const [key] of blocksOf(segment, from)) this.#blocks.delete(key)
      for (const [key] of transactionsOf(segment, from)) this.#transactions.delete(key)
      this.#unpacked.forget(segment)
      if (segment.first < from) left.push({ ...segment, last: from - 1 }) // a copy: another archive may share the segment
    }
    this.#segments = left
    this.#indexed = Math.min(this.#indexed, this.#segments.length)
  }

  async #ofTransaction<Answer>(
    segment: ArchiveSegment,
    hash: string,
    answer: (block: ArchivedBlock, index: number) => Answer,
  ): Promise<Answer | undefined> {
    for (const archived of await this.#unpack(segment)) {
      const index = archived.block.transactions.findIndex((transaction) => transaction.hash === hash)
      if (index >= 0) return answer(archived, index)
    }
    return undefined
  }

  async #ofBlock(
    segment: ArchiveSegment,
    { number, subject }: { number: number | undefined; subject: unknown },
    answer: (block: ArchivedBlock) => unknown,
  ): Promise<unknown> {
    const block = (await this.#unpack(segment))[(number ?? 0) - segment.first]
    const hash = hashIn(subject)
    return block && (hash === undefined || block.block.hash === hash) ? answer(block) : undefined
  }

  /** Number of the block that a JSON-RPC parameter names by number or, if the block is archived, by hash. */
  numberOf(subject: unknown): number | undefined {
    const hash = hashIn(subject)
    if (hash !== undefined) {
      this.#index()
      return this.#blocks.get(keyOf(hash))
    }
    const number =
      typeof subject === 'object' && subject !== null && 'blockNumber' in subject ? subject.blockNumber : subject
    if (typeof number === 'number') return number
    return typeof number === 'string' && /^0x[0-9a-f]{1,12}$/i.test(number) ? Number(number) : undefined
  }

  #segmentAt(number: number): ArchiveSegment | undefined {
    let [low, high] = [0, this.#segments.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#segments[middle]?.last ?? 0) < number) low = middle + 1
      else high = middle
    }
    const segment = this.#segments[low]
    return segment && segment.first <= number ? segment : undefined
  }

  #unpack(segment: ArchiveSegment): Promise<ArchivedBlock[]> {
    return this.#unpacked.use(segment, () => unpackSegment(segment))
  }
}

/** @returns the block hash in a JSON-RPC parameter, in lower case; undefined if there is none */
function hashIn(subject: unknown): string | undefined {
  const hash = typeof subject === 'object' && subject !== null && 'blockHash' in subject ? subject.blockHash : subject
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined
}

/** Journal entries that restore a segment, in order. */
function entriesOf(segment: ArchiveSegment): ArchiveEntry[] {
  const { first, last, counts } = segment
  const whole = first + counts.length - 1 === last
  return [entryOf(segment), ...(whole ? [] : [{ truncated: last + 1 }])]
}

/** Splits blocks into portions, one for each segment, with the JSON of each block. */
function* portions(blocks: readonly BlockToArchive[]): Generator<[BlockToArchive[], string[]]> {
  let [portion, json, size]: [BlockToArchive[], string[], number] = [[], [], 0]
  for (const block of blocks) {
    const text = JSON.stringify(block)
    if (portion.length > 0 && (portion.length === SEGMENT_BLOCKS || size + text.length > SEGMENT_SIZE)) {
      yield [portion, json]
      ;[portion, json, size] = [[], [], 0]
    }
    portion.push(block)
    json.push(text)
    size += text.length
  }
  if (portion.length > 0) yield [portion, json]
}

type OfTransaction = (block: ArchivedBlock, index: number) => unknown
type OfBlock = (block: ArchivedBlock, detail: unknown, subject: unknown) => unknown

const block: OfBlock = ({ block }, full) =>
  full === true ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) }

const transactionCount: OfBlock = ({ block }) => `0x${block.transactions.length.toString(16)}`

const transactionAt: OfBlock = ({ block }, index) => block.transactions[placeOf(index)] ?? null

const rawTransactionAt: OfBlock = ({ block }, index) => {
  const transaction = block.transactions[placeOf(index)]
  return transaction ? rawTransaction(transaction) : null
}

/** @returns NaN for a value that is not a number in any notation; some values would make `Number` throw */
function placeOf(index: unknown): number {
  return typeof index === 'number' || typeof index === 'string' ? Number(index) : Number.NaN
}

/** Answers of the methods whose first parameter is a transaction's hash. */
const answerOfTransaction: ReadonlyMap<string, OfTransaction> = new Map<string, OfTransaction>([
  ['eth_getTransactionReceipt', ({ receipts }, index) => receipts[index]],
  ['eth_getTransactionByHash', ({ block }, index) => block.transactions[index]],
  ['eth_getRawTransactionByHash', (archived, index) => rawTransactionAt(archived, index, undefined)],
])

/** Answers of the methods whose first parameter is a block's number or hash, or a filter with one. */
const answerOfBlock: ReadonlyMap<string, OfBlock> = new Map<string, OfBlock>([
  ['eth_getBlockByNumber', block],
  ['eth_getBlockByHash', block],
  ['eth_getBlockReceipts', ({ receipts }) => receipts],
  ['eth_getBlockTransactionCountByNumber', transactionCount],
  ['eth_getBlockTransactionCountByHash', transactionCount],
  ['eth_getTransactionByBlockNumberAndIndex', transactionAt],
  ['eth_getTransactionByBlockHashAndIndex', transactionAt],
  ['eth_getRawTransactionByBlockNumberAndIndex', rawTransactionAt],
  ['eth_getRawTransactionByBlockHashAndIndex', rawTransactionAt],
  [
    'eth_getLogs',
    ({ receipts }, _, filter) =>
      receipts.flatMap(({ logs }) => logs.filter((log) => matchesLog(filter as LogFilter, log))),
  ],
])

/** Encodes the signed bytes of a transaction from the answer of `eth_getTransactionByHash`. */
export function rawTransaction(transaction: object): Hex {
  const formatted = formatTransaction(transaction as RpcTransaction)
  const { r, s, v, yParity, input, to, ...fields } = formatted
  const unsigned = { ...fields, to, data: input } as TransactionSerializable
  return serializeTransaction(unsigned, { r, s, v, ...(yParity !== undefined && { yParity }) } as never)
}
