import type { RpcTransaction, TransactionSerializable } from 'viem'
import { formatTransaction, serializeTransaction } from 'viem/utils'
import type { Journal } from '../../domain/ports/journal.ts'
import type { Hex } from '../../domain/records.ts'
import { breathe } from '../../support/breathe.ts'
import { RecentlyUsed } from '../../support/maps.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import {
  type ArchiveSegment,
  type ArchiveSegmentEntry,
  blocksOf,
  entryOf,
  keyOf,
  packSegment,
  segmentOf,
  transactionsOf,
  unpackSegment,
} from './archive-segment.ts'
import {
  type ArchivedBlock,
  type BlockToArchive,
  type FilteredLog,
  type LogFilter,
  matchesLog,
} from './archived-block.ts'

/** What an archive's journal holds: blocks, and that all blocks from a number on are no more. */
export type ArchiveEntry = ArchiveSegmentEntry | { truncated: number }

/** Blocks and characters of JSON in a segment: a transaction is 4 to 5 KB. */
const SEGMENT_BLOCKS = 64
const SEGMENT_SIZE = 1024 * 1024
/** Segments kept unpacked, each a few megabytes. */
const UNPACKED = 4

/**
 * The blocks Anvil has forgotten, compressed to less than 300 bytes a transaction, and what it answered about them. Keep
 * in mind that each {@link BlockArchive.append} makes a segment of its own: many blocks at once take less room.
 */
export class BlockArchive {
  #journal: Journal<ArchiveEntry> | undefined
  readonly #queue = new SerialQueue()
  #segments: ArchiveSegment[] = []
  /** How many of them are in the indexes below, from the first on. */
  #indexed = 0
  /** Twice a segment's place, and one more if the transaction was successful, by the key of its hash. */
  readonly #transactions = new Map<number, number>()
  /** Numbers by the key of the block's hash. */
  readonly #blocks = new Map<number, number>()
  readonly #unpacked = new RecentlyUsed<ArchiveSegment, Promise<ArchivedBlock[]>>(UNPACKED)

  /** Resolves when it holds what its journal does. Rejects when that cannot be read: then it is of no use. */
  readonly opened: Promise<void>

  /**
   * Begins to read what the journal holds; without one, all is kept in memory only. With blocks of another archive to begin
   * with, these take the place of what the journal held.
   */
  constructor(journal?: Promise<Journal<ArchiveEntry>>, begin?: readonly ArchiveSegment[]) {
    this.opened = this.#queue.run(async () => {
      this.#journal = await journal
      if (begin) {
        await this.#journal?.rewrite(begin.flatMap(entriesOf))
        this.#segments = [...begin]
      } else for await (const entry of this.#journal?.read() ?? []) this.#apply(entry)
      this.#indexInTurns().catch(() => undefined) // it fails again for whoever needs them
    })
    this.opened.catch(() => undefined) // whoever needs it hears of it
  }

  /** Number of the first block; undefined if there is none. */
  get first(): number | undefined {
    return this.#segments[0]?.first
  }

  /** All blocks, for another archive to begin with. Segments never change. */
  get segments(): readonly ArchiveSegment[] {
    return [...this.#segments]
  }

  /** Gives back the memory of what was read lately. */
  rest(): void {
    this.#unpacked.clear()
  }

  /** Number of the last block; undefined if there is none. */
  get last(): number | undefined {
    return this.#segments.at(-1)?.last
  }

  /** Adds blocks, which must follow the last one and each other. They are kept when it resolves. */
  append(blocks: readonly BlockToArchive[]): Promise<void> {
    return this.#queue.run(async () => {
      let next = this.last === undefined ? Number(blocks[0]?.block.number) : this.last + 1
      for (const { block } of blocks) {
        if (Number(block.number) !== next++) throw new Error(`block ${Number(block.number)} does not follow the last`)
      }
      for (const [archived, json] of portions(blocks)) await this.#keep(await packSegment(archived, json))
    })
  }

  /** How an archived transaction went. Asks nobody and unpacks nothing. */
  outcome(hash: string): 'success' | 'reverted' | undefined {
    const place = this.#placeOf(hash)
    if (place === undefined) return undefined
    return place % 2 === 1 ? 'success' : 'reverted'
  }

  /** @returns true if {@link answer} ever knows what this method asks for. */
  mayAnswer(method: string): boolean {
    return answerOfTransaction.has(method) || answerOfBlock.has(method)
  }

  /**
   * What Anvil answered when the block was fresh. Undefined, or in the rare case that a hash only begins like an archived
   * one a promise of undefined, if the archive does not know.
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

  /** The logs of archived blocks in a range of numbers, both included, that match. Unpacks every segment it touches. */
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

  /** Forgets a block and all after it: the chain has gone back behind it. */
  truncate(from: number): Promise<void> {
    return this.#queue.run(async () => {
      if (this.last !== undefined && this.last >= from) await this.#keep({ truncated: from })
    })
  }

  /** Forgets everything. */
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

  /** Where a transaction of this hash is, as {@link #transactions} has it. */
  #placeOf(hash: string): number | undefined {
    this.#index()
    return this.#transactions.get(keyOf(hash))
  }

  /** Brings the indexes up to date. */
  #index(): void {
    while (this.#indexed < this.#segments.length) this.#indexNext()
  }

  /** As {@link #index}, unless somebody needs them earlier: a start does not. */
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
      if (segment.first < from) left.push({ ...segment, last: from - 1 }) // another archive may have the whole
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

  /** The number of the block that a JSON-RPC parameter names, by number or, if it is archived, by hash. */
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

/** The block hash a JSON-RPC parameter holds, if any. */
function hashIn(subject: unknown): string | undefined {
  const hash = typeof subject === 'object' && subject !== null && 'blockHash' in subject ? subject.blockHash : subject
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined
}

/** What a journal holds of a segment, in its order. */
function entriesOf(segment: ArchiveSegment): ArchiveEntry[] {
  const { first, last, counts } = segment
  const whole = first + counts.length - 1 === last
  return [entryOf(segment), ...(whole ? [] : [{ truncated: last + 1 }])]
}

/** Blocks by the segment, with their JSON. */
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

/** NaN for what is no number in any notation: some of it cannot even be converted. */
function placeOf(index: unknown): number {
  return typeof index === 'number' || typeof index === 'string' ? Number(index) : Number.NaN
}

/** What methods answer whose first parameter is a transaction's hash. */
const answerOfTransaction: ReadonlyMap<string, OfTransaction> = new Map<string, OfTransaction>([
  ['eth_getTransactionReceipt', ({ receipts }, index) => receipts[index]],
  ['eth_getTransactionByHash', ({ block }, index) => block.transactions[index]],
  ['eth_getRawTransactionByHash', (archived, index) => rawTransactionAt(archived, index, undefined)],
])

/** What methods answer whose first parameter is a block's number or hash, or a filter with one. */
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

/** The signed bytes of a transaction, from what `eth_getTransactionByHash` says of it. */
export function rawTransaction(transaction: object): Hex {
  const formatted = formatTransaction(transaction as RpcTransaction)
  const { r, s, v, yParity, input, to, ...fields } = formatted
  const unsigned = { ...fields, to, data: input } as TransactionSerializable
  return serializeTransaction(unsigned, { r, s, v, ...(yParity !== undefined && { yParity }) } as never)
}
