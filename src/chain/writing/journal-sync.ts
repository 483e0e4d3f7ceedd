import { ChainUnavailableError } from '../../domain/ports/chain.ts'
import type { Hex } from '../../domain/records.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { ChainJournal, ChainOperation } from '../history/chain-journal.ts'
import { takeCheckpoint } from '../history/checkpoint.ts'
import { type Block, LAST_TIMESTAMP, LATEST_BLOCK } from '../json-rpc/block.ts'
import type { NodeEvents } from '../json-rpc/node-events.ts'
import { type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import { BlockArchiver } from './block-archiver.ts'

/**
 * Keeps a node and its journal in step: the node must be at the last block of the journal before another change begins.
 *
 * A change whose answer was cut off leaves that open. The node is then asked for its last block, which must be the one
 * before or the next one; otherwise the node is discarded, and another one repeats the journal. If the node carries out the
 * call even later, the next block shows it by a wrong parent. A change is reported to its caller only after the journal has it;
 * a block may be reported before, where all that comes of it is stored after it or not at all (`Journal.ordered`). There, the node may also be
 * sent bytes that are still being stored: nothing of it is written down, or shown to others, before they are.
 */
export class JournalSync {
  readonly #deps: SyncDeps
  readonly sent = new SentTransactions()
  readonly archiver: BlockArchiver
  /** True if there were changes from outside, which cannot be repeated: only a checkpoint keeps them. */
  changedByOthers = false
  /** Number of blocks, transactions and calls from outside so far. */
  done = 0
  /** Number of changes from outside so far. */
  foreignChanges = 0
  /** True if a block was requested and it is not yet known if the node mined it. */
  #doubt = false
  #reconciling: Promise<void> | undefined
  #underWay: Promise<unknown> = Promise.resolve()
  /** Resolves when the bytes of all that the node was sent are stored. Undefined when they are. */
  #withheld: Promise<void> | undefined

  constructor(deps: SyncDeps) {
    this.#deps = deps
    const { rpc, archive, journal } = deps
    const written = (write: () => Promise<void>) => this.#written(write)
    this.archiver = new BlockArchiver({ rpc, archive, base: () => journal.base.number, written })
  }

  /** Call when a node has reached the end of the journal, with its last block. Its pool is empty. */
  arrive({ number, timestamp }: Block): void {
    this.sent.clear()
    this.changedByOthers = false
    this.#doubt = false
    this.#withheld = undefined
    this.#deps.reader.changed(Number(timestamp))
    this.archiver.arrive(Number(number))
  }

  /** See `ChainWriter.withholdUntil`. */
  withhold(stored: Promise<void>): void {
    const withheld = stored.then(
      () => {
        if (this.#withheld === withheld) this.#withheld = undefined
      },
      (cause) =>
        this.#discard(`what it was sent could not be stored: ${cause instanceof Error ? cause.message : cause}`),
    )
    withheld.catch(() => undefined)
    this.#withheld = withheld
  }

  /** See `ChainWriter.withheld`. */
  get withheld(): Promise<void> | undefined {
    return this.#withheld
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    await this.#underWay.catch(() => {})
    await this.archiver.idle()
  }

  /** Runs a task for which {@link idle} waits. */
  track<Result>(task: () => Promise<Result>): Promise<Result> {
    const work = task()
    this.#underWay = work
    return work
  }

  /** Call before a change. Resolves when the node is at the end of the journal, a due checkpoint is taken, and the archive has room. */
  async prepare(): Promise<void> {
    await this.reconcile()
    if (this.changedByOthers || this.#deps.journal.tooLong) await this.checkpoint()
    await this.archiver.makeRoom()
  }

  /**
   * Mines a block by `make`, which returns the last block afterwards, and takes it into the journal. `ahead` is called as soon as
   * whatever is stored from then on is stored after the block: before it resolves, and only by a journal that is ordered.
   */
  async block<Found extends { block: Block }>(
    make: () => Promise<Found>,
    ahead?: (found: Found) => void,
  ): Promise<Found> {
    this.#doubt = true
    const found = await make()
    await this.#adopt(found.block, ahead && (() => ahead(found)))
    return found
  }

  /** Carries out a change other than a block, and writes it to the journal. */
  async change(operation: ChainOperation, perform: () => Promise<unknown>): Promise<void> {
    await this.uncut(perform).catch((error: unknown) => {
      this.changedByOthers ||= this.#deps.rpc.held === undefined // part of it may have been carried out
      throw error
    })
    await this.#withheld
    await this.#written(() => this.#deps.journal.append(operation))
  }

  /** Makes a call that changes the chain other than by a block. If its answer is cut off, the node is discarded: the effect is unknown. */
  async uncut<Result>(call: () => Promise<Result>): Promise<Result> {
    const { chainId, rpc } = this.#deps
    const failures = rpc.upstreamFailures
    if (rpc.held !== undefined) throw new ChainUnavailableError(chainId, rpc.held) // the call is not sent, so the node can stay
    try {
      return await call()
    } catch (error) {
      if (error instanceof RpcError || rpc.upstreamFailures > failures) throw error
      return this.#discard(`its answer to a change was cut off: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Finds out if the node mined a block whose answer was cut off. Throws ChainUnavailableError. */
  async reconcile(): Promise<void> {
    if (!this.#doubt) return
    this.#reconciling ??= this.#reconcile().finally(() => {
      this.#reconciling = undefined
    })
    await this.#reconciling
  }

  /** Finds the last block after a change from outside. Throws ChainUnavailableError if the node must be discarded. */
  async look(): Promise<void> {
    const block = await this.#deps.rpc.call<Block | null>(...LATEST_BLOCK)
    if (!block) this.#discard('it lost its last block')
    if (!(Number(block.timestamp) <= LAST_TIMESTAMP)) this.#discard('its time is beyond counting')
    this.#deps.reader.changed(Number(block.timestamp))
    if (Number(block.number) < this.archiver.height) await this.track(() => this.#goBack())
    this.archiver.arrive(Number(block.number))
  }

  /** Archives every block, and makes the journal begin with a checkpoint of the last one, so that nothing has to be repeated. */
  async checkpoint(): Promise<void> {
    await this.reconcile()
    await this.track(() => this.#checkpoint(this.changedByOthers ? undefined : this.#deps.journal.tip.hash))
  }

  async #reconcile(): Promise<void> {
    const block = await this.#deps.rpc.call<Block>(...LATEST_BLOCK)
    if (block.hash === this.#deps.journal.tip.hash) this.#doubt = false
    else await this.track(() => this.#adopt(block))
  }

  /**
   * Takes the node's last block into the journal. It must be the next one; a checkpoint is taken unless all its transactions are
   * known. Can be called again after a failure. `ahead`: see {@link block}.
   */
  async #adopt(block: Block, ahead?: () => void): Promise<void> {
    const { journal, reader } = this.#deps
    if (this.#withheld) await this.#withheld
    const { tip } = journal
    const { number, hash, parentHash, timestamp } = block
    if (Number(number) !== tip.number + 1 || (tip.hash !== undefined && parentHash !== tip.hash)) {
      this.#discard(`its block ${Number(number)} does not follow block ${tip.number}, where its journal ends`)
    }
    reader.changed(Number(timestamp))
    const signed = this.sent.in(block)
    if (signed) {
      const operation = { mine: Number(timestamp), hash, ...(signed.length > 0 && { send: signed }) }
      const follow = journal.ordered ? ahead : undefined
      const written = this.#written(() => journal.append(operation, { ahead: follow !== undefined }))
      follow?.()
      await written
    }
    this.archiver.add(Number(number), signed)
    if (!signed) await this.#checkpoint(hash) // it has transactions from outside: it cannot be made again
    this.done += 1 + block.transactions.length
    this.sent.mined(block)
    this.#doubt = false
  }

  /**
   * Writes to the journal that blocks were taken back, before the archive removes them: if the node were lost in between, the
   * journal would need them.
   */
  async #goBack(): Promise<void> {
    try {
      await this.#keep(undefined)
    } catch (cause) {
      this.#discard(`its way back could not be kept: ${cause instanceof Error ? cause.message : cause}`)
    }
  }

  /** @param expected hash of the last block, if known */
  async #checkpoint(expected: Hex | undefined): Promise<void> {
    await this.archiver.all()
    await this.#keep(expected)
  }

  /** Makes the journal begin with a checkpoint of the last block. Discards the node if that is not the expected one. */
  async #keep(expected: Hex | undefined): Promise<void> {
    const { rpc, journal } = this.#deps
    await this.#withheld
    const { forked } = journal.base
    const checkpoint = { ...(await takeCheckpoint(rpc)), ...(forked !== undefined && { forked }) }
    const { hash } = await rpc.call<Block>(...LATEST_BLOCK)
    if (hash !== checkpoint.block.hash || hash !== (expected ?? hash)) {
      this.#discard('a checkpoint of it would not be of the block where its journal ends')
    }
    await this.#written(() => journal.replace({ checkpoint, operations: [] }))
    this.changedByOthers = false
  }

  /** Runs a write. If that fails, the node is discarded: it is ahead of the journal. */
  async #written(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      this.#discard(`what it did could not be written down: ${cause instanceof Error ? cause.message : cause}`)
    }
  }

  #discard(reason: string): never {
    this.#deps.events.emit('distrusted', reason)
    throw new ChainUnavailableError(this.#deps.chainId, reason)
  }
}

/** Dependencies of a {@link JournalSync}. */
export interface SyncDeps {
  chainId: string
  rpc: RpcClient
  reader: ChainReader
  journal: ChainJournal
  archive: BlockArchive
  events: NodeEvents
}

/** Number of unmined transactions above which {@link SentTransactions} forgets the oldest. */
const MOST_WAITING = 10_000

/** Signed transactions, by hash, that were sent to the node and are not in a block yet: its pool, as far as it is known. */
class SentTransactions {
  readonly #waiting = new Map<string, Hex>()

  add(hash: Hex, raw: Hex): void {
    this.#waiting.set(hash, raw)
  }

  /** Call when the pool is empty, or may hold other transactions. */
  clear(): void {
    this.#waiting.clear()
  }

  /**
   * Finds the signed transactions of a block, in order; undefined if it has others as well. Sent again in this order, they make the
   * same block. Transactions that were sent but are not in the block are left out: a fork omits them when its upstream fails, and a
   * repetition may not fail in the same way.
   */
  in({ transactions }: Block): Hex[] | undefined {
    const signed = transactions.flatMap((hash) => this.#waiting.get(String(hash)) ?? [])
    return signed.length === transactions.length ? signed : undefined
  }

  /** Call when a block is in the journal. */
  mined({ transactions }: Block): void {
    for (const hash of transactions) this.#waiting.delete(String(hash))
    for (const hash of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST_WAITING) break
      this.#waiting.delete(hash)
    }
  }
}
