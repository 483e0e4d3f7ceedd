import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import { type BlockToArchive, isRebuildable } from '../archive/archived-block.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import { BLOCKS_KEPT } from '../node/anvil-node.ts'

/** Number of blocks that are archived together: more make a smaller archive but a longer pause. */
const TOGETHER = 8
/** Limit on the blocks that wait to be archived: together with the last one, fewer than Anvil keeps. */
const MOST_WAITING = BLOCKS_KEPT - 2
/** Number of waiting blocks from which on they are archived under load; a few more can come while some are archived. */
const HASTE = MOST_WAITING - 6

/** Puts a chain's blocks into the archive before Anvil forgets them. */
export class BlockArchiver {
  readonly #deps: ArchiverDeps
  readonly #queue = new SerialQueue()
  /** Signed transactions by number of a block that is not archived yet, if all of its transactions are known. */
  readonly #signed = new Map<number, Hex[]>()
  /** Number of the last block. */
  height = 0
  /** Set after the chain went back: the archive must remove this block and all later ones. */
  #cut: number | undefined

  constructor(deps: ArchiverDeps) {
    this.#deps = deps
  }

  /** Call with the next block's number, and with its signed transactions if all are known. A repeated call is harmless. */
  add(number: number, signed?: Hex[]): void {
    this.height = number
    if (signed) this.#signed.set(number, signed)
    this.#announce(number)
    this.#archiveAside()
  }

  /** Call when the block of that number is the last one of the chain; blocks after it no longer exist. */
  arrive(height: number): void {
    this.#signed.clear()
    this.height = height
    // Blocks from outside are archived before the journal keeps them; if it does not come to that, the archive must remove them.
    this.#cut = height + 1
    this.#queue.run(() => this.#forget()).catch(() => {}) // it is retried before the next block is archived
    this.#announce(height) // it may have taken the place of another
  }

  #announce(number: number): void {
    for (const watcher of this.#deps.archive.watchers) watcher(number)
  }

  /** Resolves when nothing is being archived. */
  async idle(): Promise<void> {
    await this.#queue.run(async () => {})
  }

  /** Archives all blocks up to the last one. */
  all(): Promise<void> {
    return this.#archive(this.height)
  }

  /**
   * Archives some blocks, in tens of milliseconds. Call in a quiet moment.
   * @returns false if too few blocks wait, so that nothing was done
   */
  async tidy(): Promise<boolean> {
    if (this.#waiting <= TOGETHER) return false
    await this.#archive(this.#archived + TOGETHER)
    return true
  }

  /** Resolves when Anvil can mine another block without forgetting one that is not archived. */
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

  /** Number of blocks that can be archived. The last one is not counted: it may be replaced until there is a next one. */
  get #waiting(): number {
    return this.height - 1 - this.#archived
  }

  /** Archives blocks under load, while the next ones are mined. Nothing waits for that, and failures are ignored. */
  #archiveAside(): void {
    if (this.#waiting < HASTE || !this.#queue.idle) return
    this.#archive(this.#archived + TOGETHER).catch(() => {}) // it is retried
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
  /** Returns the number of the block after which the archive begins. */
  base(): number
  /** Runs a write to archive or journal; if that fails, the node is discarded. */
  written(write: () => Promise<void>): Promise<void>
}

/**
 * Reads blocks with transactions and receipts.
 * @param mined signed transactions in order, by the number of a block, if known: the node is then not asked for them
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
