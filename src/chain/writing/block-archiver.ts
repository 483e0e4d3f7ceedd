import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import { type BlockToArchive, isRebuildable } from '../archive/archived-block.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import { BLOCKS_KEPT } from '../node/anvil-node.ts'

/** Blocks that are put into the archive together: more make a smaller archive, and a longer pause. */
const TOGETHER = 8
/** The most blocks that wait to be put there; with the last one fewer than Anvil keeps. */
const MOST_WAITING = BLOCKS_KEPT - 2
/** Blocks that wait for a quiet moment. There is time for a few more while some of them are archived. */
const HASTE = MOST_WAITING - 6

/** Puts a chain's blocks into the archive before Anvil forgets them. */
export class BlockArchiver {
  readonly #deps: ArchiverDeps
  readonly #queue = new SerialQueue()
  /** The signed transactions of blocks that are not in the archive, by number, where all are known. */
  readonly #signed = new Map<number, Hex[]>()
  /** The number of the last block. */
  height = 0
  /** The chain went back: the archive must forget this block and all after it. */
  #cut: number | undefined

  constructor(deps: ArchiverDeps) {
    this.#deps = deps
  }

  /** Call with the next block's number, and with its signed transactions if all are known. Twice does no harm. */
  add(number: number, signed?: Hex[]): void {
    this.height = number
    if (signed) this.#signed.set(number, signed)
    this.#archiveAside()
  }

  /** Call when the chain ends with the block of that number, whatever came after it before. */
  arrive(height: number): void {
    this.#signed.clear()
    this.height = height
    // What others mined is archived before it is kept in the journal: should it not come to that, it is no more.
    this.#cut = height + 1
    this.#queue.run(() => this.#forget()).catch(() => {}) // it is tried again before the next block is archived
  }

  /** Resolves when nothing is being archived. */
  async idle(): Promise<void> {
    await this.#queue.run(async () => {})
  }

  /** Archives all blocks there are. */
  all(): Promise<void> {
    return this.#archive(this.height)
  }

  /** For a quiet moment: archives some blocks, in tens of milliseconds. Says whether there were enough of them. */
  async tidy(): Promise<boolean> {
    if (this.#waiting <= TOGETHER) return false
    await this.#archive(this.#archived + TOGETHER)
    return true
  }

  /** Resolves when Anvil can make another block without forgetting one that is not archived. */
  async makeRoom(): Promise<void> {
    if (this.#waiting >= MOST_WAITING) await this.#archive(this.#archived + TOGETHER)
  }

  get #archived(): number {
    const { archive, base } = this.#deps
    return Math.min(archive.last ?? base(), (this.#cut ?? Number.POSITIVE_INFINITY) - 1)
  }

  async #forget(): Promise<void> {
    const from = this.#cut
    if (from === undefined) return
    await this.#deps.archive.truncate(from)
    if (this.#cut === from) this.#cut = undefined
  }

  /** Blocks that may be archived. The last one may be replaced: it waits for the next. */
  get #waiting(): number {
    return this.height - 1 - this.#archived
  }

  /** Without a quiet moment, blocks are archived while the next ones are made: nobody waits for it, or hears of a failure. */
  #archiveAside(): void {
    if (this.#waiting < HASTE || !this.#queue.idle) return
    this.#archive(this.#archived + TOGETHER).catch(() => {}) // it is tried again
  }

  #archive(upTo: number): Promise<void> {
    return this.#queue.run(async () => {
      const { rpc, archive, written } = this.#deps
      await written(() => this.#forget())
      const first = this.#archived + 1
      const numbers = Array.from({ length: Math.max(0, upTo - first + 1) }, (_, i) => first + i)
      if (numbers.length === 0) return
      const blocks = await readBlocks(rpc, numbers, this.#signed)
      await written(() => archive.append(blocks))
      for (const number of numbers) this.#signed.delete(number)
    })
  }
}

export interface ArchiverDeps {
  rpc: RpcClient
  archive: BlockArchive
  /** The number of the block that the archive begins after. */
  base(): number
  /** Writes something down; should that fail, the node is of no use any more. */
  written(write: () => Promise<void>): Promise<void>
}

/**
 * Reads blocks with all they hold. `mined` holds the signed transactions of a block by its number, in their order, where
 * they are known: then the node is not asked for them.
 */
export async function readBlocks(
  rpc: RpcClient,
  numbers: readonly number[],
  mined: ReadonlyMap<number, readonly Hex[]>,
): Promise<BlockToArchive[]> {
  const known = numbers.map((number) => {
    const signed = mined.get(number)
    return signed?.every(isRebuildable) ? { signed } : undefined
  })
  const answers = await rpc.batch<unknown>(
    numbers.flatMap((number, i): RpcCall[] => [
      ['eth_getBlockByNumber', numberToHex(number), !known[i]],
      ['eth_getBlockReceipts', numberToHex(number)],
    ]),
  )
  return known.map(
    (signed, i) => ({ block: answers[2 * i], receipts: answers[2 * i + 1], ...signed }) as BlockToArchive,
  )
}
