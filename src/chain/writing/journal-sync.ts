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
 * Keeps a node and its journal in step: the node must stand where the journal ends before anything is built on it.
 *
 * A change whose answer was cut off leaves that open. The node is then asked for its last block, which must be the one
 * before or the next one; otherwise it is discarded, and another node does again what the journal holds. A call that is
 * carried out later still is noticed by the next block, whose parent is not the one it should be. Nobody is told of a change
 * before the journal has it.
 */
export class JournalSync {
  readonly #deps: SyncDeps
  readonly sent = new SentTransactions()
  readonly archiver: BlockArchiver
  /** Others changed the chain in ways that cannot be done again: only a checkpoint keeps it. */
  changedByOthers = false
  /** Blocks and transactions so far, and what others did. */
  done = 0
  /** How often others changed the chain. */
  foreignChanges = 0
  /** A block was asked for, and nobody knows yet whether it stands. */
  #doubt = false
  #reconciling: Promise<void> | undefined
  #underWay: Promise<unknown> = Promise.resolve()

  constructor(deps: SyncDeps) {
    this.#deps = deps
    const { rpc, archive, journal } = deps
    const written = (write: () => Promise<void>) => this.#written(write)
    this.archiver = new BlockArchiver({ rpc, archive, base: () => journal.base.number, written })
  }

  /** Call when a node was brought to where the journal ends, with its last block: its pool is empty. */
  arrive({ number, timestamp }: Block): void {
    this.sent.clear()
    this.changedByOthers = false
    this.#doubt = false
    this.#deps.reader.changed(Number(timestamp))
    this.archiver.arrive(Number(number))
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    await this.#underWay.catch(() => {})
    await this.archiver.idle()
  }

  /** Does something that {@link idle} waits for. */
  track<Result>(task: () => Promise<Result>): Promise<Result> {
    const work = task()
    this.#underWay = work
    return work
  }

  /** Before a change: the node stands where the journal ends, and the archive has room for another block. */
  async prepare(): Promise<void> {
    await this.reconcile()
    if (this.changedByOthers || this.#deps.journal.tooLong) await this.checkpoint()
    await this.archiver.makeRoom()
  }

  /** Has a block mined and takes it into the journal; `ask` finds the last block afterwards, among other things. */
  async block<Found extends { block: Block }>(make: () => Promise<Found>): Promise<Found> {
    this.#doubt = true
    const found = await make()
    await this.#adopt(found.block)
    return found
  }

  /** Carries out a change that is no block, and writes it down. */
  async change(operation: ChainOperation, perform: () => Promise<unknown>): Promise<void> {
    await this.uncut(perform).catch((error: unknown) => {
      this.changedByOthers ||= this.#deps.rpc.held === undefined // some of it may have been done
      throw error
    })
    await this.#written(() => this.#deps.journal.append(operation))
  }

  /** What was done by a change that is no block cannot be seen: when its answer is cut off, the node is discarded. */
  async uncut<Result>(call: () => Promise<Result>): Promise<Result> {
    const { chainId, rpc } = this.#deps
    const failures = rpc.upstreamFailures
    if (rpc.held !== undefined) throw new ChainUnavailableError(chainId, rpc.held) // it never leaves
    try {
      return await call()
    } catch (error) {
      if (error instanceof RpcError || rpc.upstreamFailures > failures) throw error
      return this.#discard(`its answer to a change was cut off: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Finds out what the node did whose answer was cut off. Throws ChainUnavailableError. */
  async reconcile(): Promise<void> {
    if (!this.#doubt) return
    this.#reconciling ??= this.#reconcile().finally(() => {
      this.#reconciling = undefined
    })
    await this.#reconciling
  }

  /** Finds out where the chain stands after somebody else changed it. */
  async look(): Promise<void> {
    const block = await this.#deps.rpc.call<Block | null>(...LATEST_BLOCK)
    if (!block) this.#discard('it lost its last block')
    if (!(Number(block.timestamp) <= LAST_TIMESTAMP)) this.#discard('its time is beyond counting')
    this.#deps.reader.changed(Number(block.timestamp))
    if (Number(block.number) < this.archiver.height) await this.track(() => this.#goBack())
    this.archiver.arrive(Number(block.number))
  }

  /** Leaves nothing to be done again: archives every block, and has the journal begin with the last one. */
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
   * Takes the node's last block into the journal: the next one, made of what is known to have been sent. Should that fail, it
   * is done again.
   */
  async #adopt(block: Block): Promise<void> {
    const { journal, reader } = this.#deps
    const { tip } = journal
    const { number, hash, parentHash, timestamp } = block
    if (Number(number) !== tip.number + 1 || (tip.hash !== undefined && parentHash !== tip.hash)) {
      this.#discard(`its block ${Number(number)} does not follow block ${tip.number}, where its journal ends`)
    }
    const signed = this.sent.in(block)
    if (signed) {
      const operation = { mine: Number(timestamp), hash, ...(signed.length > 0 && { send: signed }) }
      await this.#written(() => journal.append(operation))
    }
    reader.changed(Number(timestamp))
    this.archiver.add(Number(number), signed)
    if (!signed) await this.#checkpoint(hash) // others sent something as well: it cannot be made again
    this.done += 1 + block.transactions.length
    this.sent.mined(block)
    this.#doubt = false
  }

  /**
   * Keeps that blocks were taken back, all of them archived, before the archive forgets them: were the node lost in between, the
   * journal would need them.
   */
  async #goBack(): Promise<void> {
    try {
      await this.#keep(undefined)
    } catch (cause) {
      this.#discard(`its way back could not be kept: ${cause instanceof Error ? cause.message : cause}`)
    }
  }

  /** `expected`: the hash of the last block, if it is known. */
  async #checkpoint(expected: Hex | undefined): Promise<void> {
    await this.archiver.all()
    await this.#keep(expected)
  }

  /** Has the journal begin with the last block. */
  async #keep(expected: Hex | undefined): Promise<void> {
    const { rpc, journal } = this.#deps
    const { forked } = journal.base
    const checkpoint = { ...(await takeCheckpoint(rpc)), ...(forked !== undefined && { forked }) }
    const { hash } = await rpc.call<Block>(...LATEST_BLOCK)
    if (hash !== checkpoint.block.hash || hash !== (expected ?? hash)) {
      this.#discard('a checkpoint of it would not be of the block where its journal ends')
    }
    await this.#written(() => journal.replace({ checkpoint, operations: [] }))
    this.changedByOthers = false
  }

  /** A node that is ahead of the journal must not be built upon. */
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

/** What keeps a node and its journal in step. */
export interface SyncDeps {
  chainId: string
  rpc: RpcClient
  reader: ChainReader
  journal: ChainJournal
  archive: BlockArchive
  events: NodeEvents
}

/** With more transactions than this that no block took, {@link SentTransactions} forgets the oldest. */
const MOST_WAITING = 10_000

/** Signed transactions that were sent to the node and stand in no block yet, by hash: what its pool holds, as far as we know. */
class SentTransactions {
  readonly #waiting = new Map<string, Hex>()

  add(hash: Hex, raw: Hex): void {
    this.#waiting.set(hash, raw)
  }

  /** Call when the pool is empty, or may hold something else. */
  clear(): void {
    this.#waiting.clear()
  }

  /**
   * The signed transactions in a block, in their order; undefined if it holds others as well. Sent again in this order, they
   * make the same block. What was sent and does not stand in it is not part of that: a fork whose upstream failed left it out,
   * and whoever does the block again need not fail in the same way.
   */
  in({ transactions }: Block): Hex[] | undefined {
    const signed = transactions.flatMap((hash) => this.#waiting.get(String(hash)) ?? [])
    return signed.length === transactions.length ? signed : undefined
  }

  /** Call when a block is kept. */
  mined({ transactions }: Block): void {
    for (const hash of transactions) this.#waiting.delete(String(hash))
    for (const hash of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST_WAITING) break
      this.#waiting.delete(hash)
    }
  }
}
