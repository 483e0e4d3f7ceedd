import { keccak256 } from 'viem/utils'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import { type Block, LATEST_BLOCK } from './block.ts'
import type { BlockArchive } from './block-archive.ts'
import { BlockArchiver } from './block-archiver.ts'
import type { ChainJournal } from './chain-journal.ts'
import type { ChainState } from './chain-state.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { mine, type Operation, perform } from './operation.ts'
import { type Call, type Rpc, RpcError } from './rpc.ts'
import { SentTransactions } from './sent-transactions.ts'

/** Why transactions were not taken, in their order; undefined for those that were. */
export type Refusals = (RpcError | undefined)[]

/** What a writer works with. */
export interface WriterParts {
  chainId: string
  rpc: Rpc
  state: ChainState
  journal: ChainJournal
  archive: BlockArchive
  /** Ends the node, for this reason: it did something that is not in the journal, or may have. */
  discard(reason: string): void
}

/** What somebody who had a block mined wants as soon as the node has it. */
export interface OnceMined {
  /** Questions that share a round trip with the writer's own. */
  ask: readonly Call[]
  stands(): void
}

/** A block that is kept. */
export interface Mined {
  number: number
  /** Unix seconds. */
  timestamp: number
  /** What was answered to what was asked. */
  answers: unknown[]
}

const UNASKED: OnceMined = { ask: [], stands: () => {} }

/**
 * The only way anything on the chain is changed: transactions, blocks and cheats, strictly one after another (the block
 * producer's lane sees to that). What was done is written to the journal before anybody is told that it was.
 *
 * The node must stand where the journal ends before anything is built on it. A change whose answer was cut off leaves that
 * open: the node is then asked for its last block, which must be the one before or the next one, or the node is discarded.
 * A call that is carried out later still is noticed by the next block, whose parent is not the one it should be.
 */
export class ChainWriter {
  readonly #parts: WriterParts
  /** A block's entry in the journal holds what was sent since the one before. */
  readonly #sent = new SentTransactions()
  /** Others changed the chain in ways that cannot be done again: only a checkpoint keeps it. */
  #strange = false
  /** A block was asked for, and nobody knows yet whether it stands. */
  #doubt = false
  #reconciling: Promise<void> | undefined
  #underWay: Promise<unknown> = Promise.resolve()
  readonly #archiver: BlockArchiver
  #done = 0

  constructor(parts: WriterParts) {
    this.#parts = parts
    const { rpc, archive, journal } = parts
    const written = (write: () => Promise<void>) => this.#written(write)
    this.#archiver = new BlockArchiver({ rpc, archive, base: () => journal.base.number, written })
  }

  /** Blocks and transactions so far, and what others did. */
  get done(): number {
    return this.#done
  }

  /** The number of the last block. */
  get height(): number {
    return this.#archiver.height
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    await this.#underWay.catch(() => {})
    await this.#archiver.idle()
  }

  /** Call when a node was brought to where the journal ends, with its last block: its pool is empty. */
  arrive({ number, timestamp }: Block): void {
    this.#sent.clear()
    this.#strange = false
    this.#doubt = false
    this.#parts.state.changed(Number(timestamp))
    this.#archiver.arrive(Number(number))
  }

  /**
   * Hands signed transactions to the pool; those of one account are mined by nonce, others in any order. Says who was
   * refused.
   */
  async broadcast(transactions: readonly Hex[]): Promise<Refusals> {
    await this.reconcile() // or they would seem to have been there before a block that was asked for earlier
    const calls = transactions.map((raw): Call => ['eth_sendRawTransaction', raw])
    const answers = await this.#parts.rpc.settle(calls)
    return transactions.map((raw, i) => {
      const answer = answers[i]
      const refused = answer instanceof RpcError
      // Refused may mean that it is known: its first answer got lost.
      this.#sent.add(refused ? keccak256(raw) : (answer as Hex), raw)
      return refused ? answer : undefined
    })
  }

  /**
   * Mines what the pool holds into a block of that timestamp, or of the latest block's should somebody else have mined
   * ahead of it. Resolves when it is kept.
   */
  async mine(timestamp: number, once: OnceMined = UNASKED): Promise<Mined> {
    await this.#prepare()
    return this.#track(this.#mine(timestamp, once))
  }

  async #mine(timestamp: number, { ask, stands }: OnceMined): Promise<Mined> {
    this.#doubt = true
    await this.#mineFrom(timestamp)
    const asked = this.#parts.rpc.settle([LATEST_BLOCK, ...ask])
    stands()
    const [block, ...answers] = await asked
    if (block instanceof RpcError) throw block
    await this.#adopt(block as Block)
    const { number, timestamp: time } = block as Block
    return { number: Number(number), timestamp: Number(time), answers }
  }

  /** Finds out what the node did whose answer was cut off, so that it stands where the journal ends. Throws ChainUnavailableError. */
  async reconcile(): Promise<void> {
    if (!this.#doubt) return
    this.#reconciling ??= this.#reconcile().finally(() => {
      this.#reconciling = undefined
    })
    await this.#reconciling
  }

  async #reconcile(): Promise<void> {
    const block = await this.#parts.rpc.call<Block>(...LATEST_BLOCK)
    if (block.hash === this.#parts.journal.tip.hash) this.#doubt = false
    else await this.#track(this.#adopt(block))
  }

  /** Takes the node's last block into the journal: the next one, made of what is known to have been sent. */
  async #adopt(block: Block): Promise<void> {
    const { journal, state } = this.#parts
    const { tip } = journal
    const { number, hash, parentHash, timestamp } = block
    if (Number(number) !== tip.number + 1 || (tip.hash !== undefined && parentHash !== tip.hash)) {
      this.#discard(`its block ${Number(number)} does not follow block ${tip.number}, where its journal ends`)
    }
    const { signed, send } = this.#sent.contentOf(block)
    if (signed) {
      const operation = { mine: Number(timestamp), hash, ...(send.length > 0 && { send }) }
      await this.#written(() => journal.append(operation))
    }
    this.#done += 1 + this.#sent.size
    this.#sent.journalled(block)
    state.changed(Number(timestamp))
    this.#archiver.add(signed)
    if (!signed) await this.#checkpoint(hash) // others sent something as well: it cannot be made again
    this.#doubt = false
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly Call[]): Promise<void> {
    await this.#change({ cheat: calls })
    this.#parts.state.changed()
  }

  /** Takes a transaction that cannot be mined out of the pool. */
  async drop(hash: Hex): Promise<void> {
    await this.#change({ drop: hash })
  }

  /** Carries out what somebody else asked of the node, whatever it is: a checkpoint keeps it, taken before our next change. */
  async foreign([method, ...params]: Call): Promise<unknown> {
    await this.reconcile()
    await this.#archiver.all() // the call may mine more blocks than the node keeps
    this.#done++
    this.#strange = true
    this.#sent.clear() // it may take them out of the pool
    const call = this.#uncut(() => this.#parts.rpc.call(method, ...params))
    try {
      return await this.#track(call)
    } finally {
      await this.#look()
    }
  }

  /**
   * For a quiet moment: does a piece of what would hold up a change some time later, in tens of milliseconds. Says whether
   * there is more to do.
   */
  async tidy(): Promise<boolean> {
    if (await this.#archiver.tidy()) return true
    if (!this.#parts.journal.long) return false
    await this.checkpoint()
    return true
  }

  /** Whether others changed the chain in ways that no checkpoint has kept yet. */
  get changedByOthers(): boolean {
    return this.#strange
  }

  /** Whether a checkpoint is due: others changed the chain, or doing all of it again would take long. */
  get unsettled(): boolean {
    return this.#strange || this.#parts.journal.long
  }

  /** Keeps what others did, and leaves little to be done again. */
  async settle(): Promise<void> {
    if (this.unsettled) await this.checkpoint()
  }

  /** Leaves nothing to be done again: archives every block, and has the journal begin with the last one. */
  async checkpoint(): Promise<void> {
    await this.reconcile()
    await this.#track(this.#checkpoint(this.#strange ? undefined : this.#parts.journal.tip.hash))
  }

  /** `expected`: the hash of the last block, if it is known. */
  async #checkpoint(expected: Hex | undefined): Promise<void> {
    const { rpc, journal } = this.#parts
    await this.#archiver.all()
    const { forked } = journal.base
    const checkpoint = { ...(await takeCheckpoint(rpc)), ...(forked !== undefined && { forked }) }
    const { hash } = await rpc.call<Block>(...LATEST_BLOCK)
    if (hash !== checkpoint.block.hash || hash !== (expected ?? hash)) {
      this.#discard('a checkpoint of it would not be of the block where its journal ends')
    }
    await this.#written(() => journal.replace({ checkpoint, operations: [] }))
    this.#sent.forgotten()
    this.#strange = false
  }

  /** A block of that timestamp or, should somebody else have mined ahead of it, of the latest block's. */
  async #mineFrom(timestamp: number): Promise<void> {
    const { rpc, state } = this.#parts
    try {
      await mine(rpc, timestamp)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await state.refresh()
      await mine(rpc, Math.max(timestamp, state.latest))
    }
  }

  /** Done first, written after: a process that dies in between has told nobody, and whoever asked for it asks again. */
  async #change(operation: Operation): Promise<void> {
    const { rpc, journal } = this.#parts
    await this.#prepare()
    const change = async () => {
      await this.#uncut(() => perform(rpc, operation)).catch((error: unknown) => {
        this.#strange ||= rpc.held === undefined // some of it may have been done
        throw error
      })
      await this.#written(() => journal.append(operation))
    }
    await this.#track(change())
  }

  /** Before a change: the node stands where the journal ends, and the archive has room for another block. */
  async #prepare(): Promise<void> {
    await this.reconcile()
    if (this.#strange || this.#parts.journal.tooLong) await this.checkpoint()
    await this.#archiver.makeRoom()
  }

  /** What was done by a change that is no block cannot be seen: when its answer is cut off, the node is discarded. */
  async #uncut<Result>(call: () => Promise<Result>): Promise<Result> {
    const { chainId, rpc } = this.#parts
    const failures = rpc.upstreamFailures
    if (rpc.held !== undefined) throw new ChainUnavailableError(chainId, rpc.held) // it never left
    try {
      return await call()
    } catch (error) {
      if (error instanceof RpcError || rpc.upstreamFailures > failures) throw error
      return this.#discard(`its answer to a change was cut off: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** Finds out where the chain stands after somebody else changed it. */
  async #look(): Promise<void> {
    const block = await this.#parts.rpc.call<Block | null>(...LATEST_BLOCK)
    if (!block) this.#discard('it lost its last block')
    this.#parts.state.changed(Number(block.timestamp))
    this.#archiver.arrive(Number(block.number))
  }

  /** So that {@link idle} waits for it. */
  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay = work
    return work
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
    this.#parts.discard(reason)
    throw new ChainUnavailableError(this.#parts.chainId, reason)
  }
}
