import { keccak256, numberToHex } from 'viem/utils'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import { BLOCKS_KEPT } from './anvil-node.ts'
import type { Block } from './block.ts'
import type { BlockArchive } from './block-archive.ts'
import type { ChainJournal, History } from './chain-journal.ts'
import type { ChainState } from './chain-state.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { Lane } from './lane.ts'
import { mine, NOBODY, type Operation, perform } from './operation.ts'
import { readBlocks } from './read-blocks.ts'
import { type Call, type Rpc, RpcError } from './rpc.ts'

/** Why transactions were not taken, in their order; undefined for those that were. */
export type Refusals = (RpcError | undefined)[]

/** What a writer works with. */
export interface WriterParts {
  chainId: string
  rpc: Rpc
  state: ChainState
  journal: ChainJournal
  archive: BlockArchive
  /** To be told that the node did something that could not be written down: it is of no use any more. */
  discard(): void
}

/** Blocks that are put into the archive together: more make a smaller archive, and a longer pause. */
const ARCHIVED_TOGETHER = 8
/** Blocks that wait for a quiet moment to be put there. */
const HASTE = BLOCKS_KEPT / 2
/** The most blocks that wait at all; with the last one fewer than Anvil keeps. */
const MOST_WAITING = BLOCKS_KEPT - 2

/**
 * The only way anything on the chain is changed: transactions, blocks and cheats, strictly one after another (the block
 * producer's lane sees to that). What was done is written to the journal before anybody is told that it was.
 */
export class ChainWriter {
  readonly #parts: WriterParts
  /** By hash, in the node's pool and not in the journal: a block's entry holds what was sent since the one before. */
  readonly #sent = new Map<string, Hex>()
  /** The signed transactions of blocks that are not in the archive, by number, where all are known. */
  readonly #mined = new Map<number, Hex[]>()
  /** The number of the last block. */
  #height = 0
  /** Others changed the chain in ways that cannot be done again: only a checkpoint keeps it. */
  #strange = false
  /** … which may still be in the pool. */
  #strangePool = false
  #underWay: Promise<unknown> = Promise.resolve()
  readonly #archiving = new Lane()

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    await this.#underWay.catch(() => {})
    await this.#archiving.run(async () => {})
  }

  /** To be told of a node that was brought to where the journal ends, and of every other jump: its pool is empty. */
  async arrive(): Promise<void> {
    this.#sent.clear()
    this.#mined.clear()
    this.#strange = false
    this.#strangePool = false
    await this.refresh()
    await this.#forgetBlocksAhead()
  }

  /** Asks the chain for its last block. */
  async refresh(): Promise<void> {
    this.#height = await this.#parts.state.refresh()
  }

  /** What others mined is archived before it is kept in the journal: should it not come to that, it is no more. */
  async #forgetBlocksAhead(): Promise<void> {
    await this.#parts.archive.truncate(this.#height + 1)
  }

  /**
   * Hands signed transactions to the pool; those of one account are mined by nonce, others in any order. Says who was
   * refused.
   */
  async broadcast(transactions: readonly Hex[]): Promise<Refusals> {
    const answers = await this.#parts.rpc.settle(transactions.map((raw): Call => ['eth_sendRawTransaction', raw]))
    return transactions.map((raw, i) => {
      const answer = answers[i]
      const refused = answer instanceof RpcError
      // Refused may mean that it is known: its first answer got lost.
      this.#sent.set(refused ? keccak256(raw) : (answer as Hex), raw)
      return refused ? answer : undefined
    })
  }

  /**
   * Mines what the pool holds into a block of that timestamp, or of the latest block's should somebody else have mined
   * ahead of it. Returns the block's timestamp when it is kept; `stands` is called before that, as soon as the node has it.
   */
  async mine(timestamp: number, stands: () => void = () => {}): Promise<number> {
    const { rpc, state } = this.#parts
    let time = timestamp
    let mined: Hex[] | undefined
    await this.#do(async () => {
      time = await this.#mineFrom(timestamp)
      stands()
      if (this.#sent.size === 0) return { mine: time }
      const { transactions } = await rpc.call<Block>('eth_getBlockByNumber', 'latest', false)
      const own = transactions.flatMap((hash) => this.#sent.get(String(hash)) ?? [])
      mined = own.length === transactions.length ? own : undefined
      const known = new Set(own)
      // As they stand in the block, then what is not in it: sent again in this order, they make the same block.
      return { mine: time, send: [...own, ...[...this.#sent.values()].filter((raw) => !known.has(raw))] }
    })
    this.#sent.clear()
    this.#height++
    if (mined) this.#mined.set(this.#height, mined)
    this.#strange ||= this.#strangePool
    this.#strangePool = false
    state.changed(time)
    this.#archiveAside()
    return time
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly Call[]): Promise<void> {
    await this.#do(() => this.#perform({ cheat: calls }))
    this.#parts.state.changed()
  }

  /** Takes a transaction that cannot be mined out of the pool. */
  async drop(hash: Hex): Promise<void> {
    await this.#do(() => this.#perform({ drop: hash }))
  }

  /** Carries out what somebody else asked of the node, whatever it is: a checkpoint keeps it, taken before our next change. */
  async foreign([method, ...params]: Call): Promise<unknown> {
    const { rpc } = this.#parts
    await this.#archive(this.#height) // the call may mine more blocks than the node keeps
    this.#strange = true
    this.#strangePool ||= /send/i.test(method)
    try {
      return await rpc.call(method, ...params)
    } finally {
      this.#mined.clear()
      await this.refresh()
      await this.#forgetBlocksAhead()
    }
  }

  /**
   * What the chain would be had its last block been mined for somebody else: the same transactions at the same time, and so
   * the same effect, but another hash. An empty block is mined for it when the last one cannot be told from its journal.
   */
  async replacedLastBlock(): Promise<History> {
    const { journal, state } = this.#parts
    for (;;) {
      const history = this.#strange ? undefined : await journal.read()
      const last = history?.operations.findLastIndex((operation) => 'mine' in operation) ?? -1
      const block = history?.operations[last]
      if (!history || !block || !('mine' in block)) {
        await this.mine(state.present)
        continue
      }
      const miner = nextAddress(block.miner ?? NOBODY)
      return { ...history, operations: history.operations.with(last, { ...block, miner }) }
    }
  }

  /**
   * For a quiet moment: does a piece of what would hold up a change some time later, in tens of milliseconds. Says whether
   * there is more to do.
   */
  async tidy(): Promise<boolean> {
    if (this.#waiting > ARCHIVED_TOGETHER) await this.#archive(this.#archived + ARCHIVED_TOGETHER)
    else if (this.#parts.journal.long) await this.#checkpoint()
    else return false
    return true
  }

  /** Whether others changed the chain in ways that no checkpoint has kept yet, or doing all of it again would take long. */
  get unsettled(): boolean {
    return this.#strange || this.#parts.journal.long
  }

  /** Keeps what others did, and leaves little to be done again. */
  async settle(): Promise<void> {
    if (this.unsettled) await this.#checkpoint()
  }

  /** A block of that timestamp or, should somebody else have mined ahead of it, of the latest block's. */
  async #mineFrom(timestamp: number): Promise<number> {
    const { rpc, state } = this.#parts
    try {
      await mine(rpc, timestamp)
      return timestamp
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await this.refresh()
      const later = Math.max(timestamp, state.latest)
      await mine(rpc, later)
      return later
    }
  }

  /** Done first, written after: a process that dies in between has told nobody, and whoever asked for it asks again. */
  async #do(act: () => Promise<Operation>): Promise<void> {
    const { journal } = this.#parts
    if (this.#strange || journal.tooLong) await this.#checkpoint()
    else if (this.#waiting >= MOST_WAITING) await this.#archive(this.#archived + ARCHIVED_TOGETHER)
    await this.#track(act().then((operation) => this.#written(() => journal.append(operation))))
  }

  /** So that {@link idle} waits for it. */
  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay = work
    return work
  }

  async #perform(operation: Operation): Promise<Operation> {
    await perform(this.#parts.rpc, operation)
    return operation
  }

  async #checkpoint(): Promise<void> {
    const { rpc, journal } = this.#parts
    const checkpoint = async () => {
      await this.#archive(this.#height)
      const { forked } = journal.base
      const taken = { ...(await takeCheckpoint(rpc)), ...(forked !== undefined && { forked }) }
      await this.#written(() => journal.replace({ checkpoint: taken, operations: [] }))
    }
    await this.#track(checkpoint())
    this.#strange = false
  }

  /** A node that is ahead of the journal must not be built upon. */
  async #written(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      this.#parts.discard()
      const reason = `what it did could not be written down: ${cause instanceof Error ? cause.message : cause}`
      throw new ChainUnavailableError(this.#parts.chainId, reason, { cause })
    }
  }

  get #archived(): number {
    return this.#parts.archive.last ?? this.#parts.journal.base.number
  }

  /** Blocks that may be archived. The last one may be replaced: it waits for the next. */
  get #waiting(): number {
    return this.#height - 1 - this.#archived
  }

  /** Keeps blocks before Anvil forgets them. */
  #archive(upTo: number): Promise<void> {
    return this.#archiving.run(async () => {
      const { rpc, archive } = this.#parts
      const first = this.#archived + 1
      const numbers = Array.from({ length: Math.max(0, upTo - first + 1) }, (_, i) => first + i)
      if (numbers.length === 0) return
      const blocks = await readBlocks(rpc, numbers, this.#mined)
      await this.#written(() => archive.append(blocks))
      for (const number of numbers) this.#mined.delete(number)
    })
  }

  /** Without a quiet moment, blocks are archived while the next ones are made: nobody waits for it, or hears of a failure. */
  #archiveAside(): void {
    if (this.#waiting < HASTE || !this.#archiving.idle) return
    this.#archive(this.#archived + ARCHIVED_TOGETHER).catch(() => {}) // it is tried again
  }
}

function nextAddress(address: Hex): Hex {
  return numberToHex(BigInt.asUintN(160, BigInt(address) + 1n), { size: 20 })
}
