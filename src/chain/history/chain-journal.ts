import { numberToHex } from 'viem/utils'
import type { Journal } from '../../domain/ports/journal.ts'
import type { Hex } from '../../domain/records.ts'
import type { Block } from '../json-rpc/block.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import type { Checkpoint } from './checkpoint.ts'

/** What a chain's journal holds: a checkpoint, then what was done since. */
export type ChainEntry = { checkpoint: Checkpoint } | ChainOperation

/** A chain as far as it is kept. */
export interface History {
  checkpoint: Checkpoint
  operations: ChainOperation[]
}

/** The last block of a history, as far as it is known before the history was done again. */
export interface Tip {
  number: number
  /** Unix seconds. */
  timestamp: number
  hash?: Hex | undefined
  parentHash?: Hex | undefined
  /** How many it holds, where no checkpoint does. A block whose state cannot be fetched lacks some. */
  transactions?: number | undefined
}

/** What the checkpoint is of. */
type Base = Pick<Checkpoint, 'forked'> & { number: number; characters: number }

/** Operations a new checkpoint is due after: doing them again takes about a second. */
const MIN_OPERATIONS = 400
/** Characters of a checkpoint that are worth one more: what it costs to take is spread over what it grew by. */
const SIZE_PER_OPERATION = 5_000
/** What a transaction counts beside a block when there is time for a checkpoint: doing it again takes half a millisecond. */
const TRANSACTION = 1 / 5
/** … and when there is not, since a checkpoint has to leave out what Anvil keeps of it. */
const TRANSACTION_IN_HASTE = 1 / 25
/** A checkpoint may wait for a quiet moment until so many times the operations it is due after are done. */
const OVERDUE_FACTOR = 2
/** What part of those is next to nothing. */
const SHORT = 1 / 10

/** What made a chain, in order: a checkpoint and the operations since, so that an Anvil can be brought back to it. */
export class ChainJournal {
  readonly #journal: Journal<ChainEntry>
  /** Blocks and cheats. */
  #done = 0
  #transactions = 0
  #mined = false
  #limit = MIN_OPERATIONS
  #base: Base | undefined
  #tip: Tip | undefined

  constructor(journal: Journal<ChainEntry>) {
    this.#journal = journal
  }

  /** @returns true if so much was done since the last checkpoint that doing it again would take longer than another one. */
  get long(): boolean {
    return this.#length >= this.#limit
  }

  /** @returns true if a checkpoint must not wait any longer. */
  get tooLong(): boolean {
    return this.#done + this.#transactions * TRANSACTION_IN_HASTE >= this.#limit * OVERDUE_FACTOR
  }

  /** @returns true if a block was mined since the last checkpoint. */
  get mined(): boolean {
    return this.#mined
  }

  /** @returns true if so little was done since the last checkpoint that doing it again takes no time to speak of. */
  get short(): boolean {
    return this.#length < this.#limit * SHORT
  }

  /** @returns true if a start of another process would notice how much there is to be done again. */
  get slow(): boolean {
    return !this.short && !(this.#journal instanceof MemoryJournal)
  }

  /** The number of the checkpoint's block, how long its accounts are, and where a fork was made. Throws before the first {@link read} or {@link replace}. */
  get base(): Base {
    if (!this.#base) throw new Error('the journal holds no checkpoint')
    return this.#base
  }

  /** The block the journal ends with. The node must stand there too before anything is built on it. Throws as {@link base}. */
  get tip(): Tip {
    if (!this.#tip) throw new Error('the journal holds no checkpoint')
    return this.#tip
  }

  /** The last block's time in Unix seconds; undefined before the first {@link read} or {@link replace}. */
  get latest(): number | undefined {
    return this.#tip?.timestamp
  }

  /** Call when a node has done again all that the journal holds, and this is its last block. */
  reached({ number, timestamp, hash, parentHash }: Block): void {
    this.#tip = { number: Number(number), timestamp: Number(timestamp), hash, parentHash }
  }

  /** Undefined for a chain that was never kept. */
  async read(): Promise<History | undefined> {
    let checkpoint: Checkpoint | undefined
    const operations: ChainOperation[] = []
    for await (const entry of this.#journal.read()) {
      if ('checkpoint' in entry) checkpoint = entry.checkpoint
      else operations.push(entry)
    }
    if (!checkpoint) return undefined
    this.#begin({ checkpoint, operations })
    return { checkpoint, operations }
  }

  async append(operation: ChainOperation): Promise<void> {
    await this.#journal.append(operation)
    this.#count(operation)
    if (!('mine' in operation)) return
    const { number, hash: parentHash } = this.tip
    this.#tip = { number: number + 1, timestamp: operation.mine, hash: operation.hash, parentHash }
  }

  /** Puts a history in the place of what was kept. */
  async replace({ checkpoint, operations }: History): Promise<void> {
    await this.#journal.rewrite([{ checkpoint }, ...operations])
    this.#begin({ checkpoint, operations })
  }

  close(): Promise<void> {
    return this.#journal.close()
  }

  get #length(): number {
    return this.#done + this.#transactions * TRANSACTION
  }

  #begin(history: History): void {
    const { block, forked, accounts } = history.checkpoint
    const characters = accounts.length
    this.#base = { number: Number(block.number), characters, ...(forked !== undefined && { forked }) }
    this.#limit = Math.max(MIN_OPERATIONS, accounts.length / SIZE_PER_OPERATION)
    this.#done = 0
    this.#transactions = 0
    this.#mined = false
    this.#tip = tipOf(history)
    for (const operation of history.operations) this.#count(operation)
  }

  #count(operation: ChainOperation): void {
    if ('cheat' in operation) this.#done += operation.cheat.length
    if (!('mine' in operation)) return
    this.#mined = true
    this.#done += 1
    this.#transactions += operation.send?.length ?? 0
  }
}

/** Where a history ends. */
export function tipOf({ checkpoint: { block }, operations }: History): Tip {
  const mined = operations.filter((operation): operation is MineOperation => 'mine' in operation)
  const number = Number(block.number) + mined.length
  const last = mined.at(-1)
  if (!last) return { number, timestamp: Number(block.timestamp), hash: block.hash, parentHash: block.parentHash }
  const before = mined.at(-2) ?? block
  const transactions = last.send?.length ?? 0
  return { number, timestamp: last.mine, hash: last.hash, parentHash: before.hash, transactions }
}

/** The history with the hash that its last block has. */
export function atTip(history: History, { hash }: Block): History {
  const last = history.operations.at(-1)
  if (!last || !('mine' in last)) return history
  return { ...history, operations: history.operations.with(-1, { ...last, hash }) }
}

/** Keeps entries as long as the process lives. */
export class MemoryJournal<Entry> implements Journal<Entry> {
  #entries: Entry[] = []

  get size(): number {
    return this.#entries.length
  }

  async *read(): AsyncIterable<Entry> {
    yield* this.#entries
  }

  async append(entry: Entry): Promise<void> {
    this.#entries.push(entry)
  }

  async rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    const next: Entry[] = []
    for await (const entry of entries) next.push(entry)
    this.#entries = next
  }

  async close(): Promise<void> {}
}

/**
 * One change of a chain. The same changes in the same order make the same chain: the same blocks, hashes and balances.
 * It is written to the data directory: a change of its meaning is a new format.
 */
export type ChainOperation =
  /** Calls of Anvil's own that change balances, allowances or code directly; of one batch none depends on another's order. */
  | { cheat: readonly RpcCall[] }
  /** Takes a transaction that cannot be mined out of the pool. */
  | { drop: Hex }
  | MineOperation

/** A block at that time (Unix seconds), of these signed transactions, sent in this order. */
interface MineOperation {
  mine: number
  send?: readonly Hex[]
  miner?: Hex
  /** The block's; absent while it is not known, as of a block that is to take another's place. */
  hash?: Hex
}

/** The miner of a block that names none. */
export const NOBODY = numberToHex(0, { size: 20 })

/** Does again what was done before. Refusals of the pool are those of the first time. Throws what the node throws. */
export async function perform(rpc: RpcClient, operation: ChainOperation): Promise<void> {
  if ('cheat' in operation) await rpc.batch(operation.cheat)
  else if ('drop' in operation) await rpc.call('anvil_dropTransaction', operation.drop)
  else {
    // One by one: the calls of a batch are carried out in any order.
    for (const raw of operation.send ?? []) await rpc.settle([['eth_sendRawTransaction', raw]])
    await mine(rpc, operation.mine, operation.miner)
  }
}

/** Mines a block at that time (Unix seconds). */
export async function mine(rpc: RpcClient, timestamp: number, miner?: Hex): Promise<void> {
  if (miner) await rpc.call('anvil_setCoinbase', miner)
  await rpc.call('evm_mine', { timestamp })
  if (miner) await rpc.call('anvil_setCoinbase', NOBODY)
}
