import { keccak256, numberToHex } from 'viem/utils'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import { type Block, LATEST_BLOCK } from './block.ts'
import type { BlockArchive } from './block-archive.ts'
import { BlockArchiver } from './block-archiver.ts'
import type { ChainJournal, History } from './chain-journal.ts'
import type { ChainState } from './chain-state.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { mine, NOBODY, type Operation, perform } from './operation.ts'
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

/** What somebody who had a block mined wants as soon as the node has it. */
export interface OnceMined {
  /** Questions that share a round trip with the writer's own. */
  ask: readonly Call[]
  stands(): void
}

/** A block that is kept. */
export interface Mined {
  /** Unix seconds. */
  timestamp: number
  /** What was answered to what was asked, if anything was sent since the last block. */
  answers: unknown[]
}

const UNASKED: OnceMined = { ask: [], stands: () => {} }

/**
 * The only way anything on the chain is changed: transactions, blocks and cheats, strictly one after another (the block
 * producer's lane sees to that). What was done is written to the journal before anybody is told that it was.
 */
export class ChainWriter {
  readonly #parts: WriterParts
  /** By hash, in the node's pool and not in the journal: a block's entry holds what was sent since the one before. */
  readonly #sent = new Map<string, Hex>()
  /** Others changed the chain in ways that cannot be done again: only a checkpoint keeps it. */
  #strange = false
  /** … which may still be in the pool. */
  #strangePool = false
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

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    await this.#underWay.catch(() => {})
    await this.#archiver.idle()
  }

  /** To be told of a node that was brought to where the journal ends, and of every other jump: its pool is empty. */
  async arrive(): Promise<void> {
    this.#sent.clear()
    this.#strange = false
    this.#strangePool = false
    await this.#archiver.arrive(await this.#parts.state.refresh())
  }

  /** Asks the chain for its last block. */
  async refresh(): Promise<void> {
    this.#archiver.height = await this.#parts.state.refresh()
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
   * ahead of it. Resolves when it is kept.
   */
  async mine(timestamp: number, { ask, stands }: OnceMined = UNASKED): Promise<Mined> {
    const { rpc, state } = this.#parts
    let time = timestamp
    let mined: Hex[] | undefined
    let answers: Mined['answers'] = []
    await this.#do(async () => {
      time = await this.#mineFrom(timestamp)
      const asked = this.#sent.size === 0 ? undefined : rpc.settle([LATEST_BLOCK, ...ask])
      stands()
      if (!asked) return { mine: time }
      const [block, ...others] = await asked
      if (block instanceof RpcError) throw block
      answers = others
      const { transactions } = block as Block
      const own = transactions.flatMap((hash) => this.#sent.get(String(hash)) ?? [])
      mined = own.length === transactions.length ? own : undefined
      const known = new Set(own)
      // As they stand in the block, then what is not in it: sent again in this order, they make the same block.
      return { mine: time, send: [...own, ...[...this.#sent.values()].filter((raw) => !known.has(raw))] }
    })
    this.#done += 1 + this.#sent.size
    this.#sent.clear()
    this.#strange ||= this.#strangePool
    this.#strangePool = false
    state.changed(time)
    this.#archiver.add(mined)
    return { timestamp: time, answers }
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
    await this.#archiver.all() // the call may mine more blocks than the node keeps
    this.#done++
    this.#strange = true
    this.#strangePool ||= /send/i.test(method)
    try {
      return await rpc.call(method, ...params)
    } finally {
      await this.#archiver.arrive(await this.#parts.state.refresh())
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
    if (await this.#archiver.tidy()) return true
    if (!this.#parts.journal.long) return false
    await this.checkpoint()
    return true
  }

  /** Whether others changed the chain in ways that no checkpoint has kept yet, or doing all of it again would take long. */
  get unsettled(): boolean {
    return this.#strange || this.#parts.journal.long
  }

  /** Keeps what others did, and leaves little to be done again. */
  async settle(): Promise<void> {
    if (this.unsettled) await this.checkpoint()
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
    if (this.#strange || journal.tooLong) await this.checkpoint()
    await this.#archiver.makeRoom()
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

  /** Leaves nothing to be done again: archives every block, and has the journal begin with the last one. */
  async checkpoint(): Promise<void> {
    const { rpc, journal } = this.#parts
    const checkpoint = async () => {
      await this.#archiver.all()
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
}

function nextAddress(address: Hex): Hex {
  return numberToHex(BigInt.asUintN(160, BigInt(address) + 1n), { size: 20 })
}
