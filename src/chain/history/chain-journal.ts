import { numberToHex } from 'viem/utils'
import type { AppendWish, Journal } from '../../domain/ports/journal.ts'
import type { Hex } from '../../domain/records.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import type { Block } from '../json-rpc/block.ts'
import type { RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import type { Checkpoint } from './checkpoint.ts'

/** An entry of a chain's journal: a checkpoint comes first, then the operations since. */
export type ChainEntry = { checkpoint: Checkpoint } | ChainOperation

/** All that is kept of a chain: its last checkpoint and the operations since. */
export interface History {
  checkpoint: Checkpoint
  operations: ChainOperation[]
}

/** The last block of a history. Optional members may be unknown until a node has repeated the history. */
export interface Tip {
  number: number
  /** Unix seconds. */
  timestamp: number
  hash?: Hex | undefined
  parentHash?: Hex | undefined
  /** Number of transactions, unless the block is the checkpoint's. If state cannot be fetched, a repeated block lacks some. */
  transactions?: number | undefined
}

/** The present checkpoint: number of its block, length of its accounts, and the block of the fork. */
type Base = Pick<Checkpoint, 'forked'> & { number: number; characters: number }

/** Number of operations after which a new checkpoint is due: repeating them takes about a second. */
const MIN_OPERATIONS = 400
/** Characters of the last checkpoint for each operation until the next: a large one is expensive, so it is taken less often. */
const SIZE_PER_OPERATION = 5_000
/** Weight of a transaction, where a block is 1, for a checkpoint in a quiet moment: repeating it takes half a millisecond. */
const TRANSACTION = 1 / 5
/** The same under load: less, since a dump also contains the transactions that Anvil keeps, which a checkpoint must leave out. */
const TRANSACTION_IN_HASTE = 1 / 25
/** A checkpoint that is due may wait for a quiet moment until the number of operations is the limit times this factor. */
const OVERDUE_FACTOR = 2
/** Fraction of the limit up to which a journal counts as short. */
const SHORT = 1 / 10

/** Checkpoint of a chain and the operations since, in order, from which an Anvil can be brought back to the same state. */
export class ChainJournal {
  readonly #journal: Journal<ChainEntry>
  /** Number of blocks and cheats since the checkpoint. */
  #done = 0
  #transactions = 0
  #mined = false
  #limit = MIN_OPERATIONS
  #base: Base | undefined
  #tip: Tip | undefined

  constructor(journal: Journal<ChainEntry>) {
    this.#journal = journal
  }

  /** @returns true if repeating the operations since the last checkpoint would take longer than taking another one */
  get long(): boolean {
    return this.#length >= this.#limit
  }

  /** @returns true if a checkpoint must not wait any longer */
  get tooLong(): boolean {
    return this.#done + this.#transactions * TRANSACTION_IN_HASTE >= this.#limit * OVERDUE_FACTOR
  }

  /** @returns true if a block was mined since the last checkpoint */
  get mined(): boolean {
    return this.#mined
  }

  /** @returns true if repeating the operations since the last checkpoint takes a negligible time */
  get short(): boolean {
    return this.#length < this.#limit * SHORT
  }

  /** @returns true if the next process would start noticeably later because of the operations to repeat */
  get slow(): boolean {
    return !this.short && !(this.#journal instanceof MemoryJournal)
  }

  /** The present checkpoint in short. Throws before the first {@link read} or {@link replace}. */
  get base(): Base {
    if (!this.#base) throw new Error('the journal holds no checkpoint')
    return this.#base
  }

  /** The last block of the journal. The node must be at the same block before it makes another one. Throws as {@link base}. */
  get tip(): Tip {
    if (!this.#tip) throw new Error('the journal holds no checkpoint')
    return this.#tip
  }

  /** Time of the last block in Unix seconds; undefined before the first {@link read} or {@link replace}. */
  get latest(): number | undefined {
    return this.#tip?.timestamp
  }

  /** Call when a node has repeated the whole journal, with its last block. */
  reached({ number, timestamp, hash, parentHash }: Block): void {
    this.#tip = { number: Number(number), timestamp: Number(timestamp), hash, parentHash }
  }

  /** Reads the history; undefined if the journal is empty. */
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

  /** See `Journal.ordered`. */
  get ordered(): boolean {
    return this.#journal.ordered === true
  }

  async append(operation: ChainOperation, wish?: AppendWish): Promise<void> {
    await this.#journal.append(operation, wish)
    this.#count(operation)
    if (!('mine' in operation)) return
    const { number, hash: parentHash } = this.tip
    this.#tip = { number: number + 1, timestamp: operation.mine, hash: operation.hash, parentHash }
  }

  /** Replaces the content of the journal by a history. */
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

/** Finds the last block of a history. */
export function tipOf({ checkpoint: { block }, operations }: History): Tip {
  const mined = operations.filter((operation): operation is MineOperation => 'mine' in operation)
  const number = Number(block.number) + mined.length
  const last = mined.at(-1)
  if (!last) return { number, timestamp: Number(block.timestamp), hash: block.hash, parentHash: block.parentHash }
  const before = mined.at(-2) ?? block
  const transactions = last.send?.length ?? 0
  return { number, timestamp: last.mine, hash: last.hash, parentHash: before.hash, transactions }
}

/** Adds the hash of a history's last block, if that was mined after the checkpoint. */
export function atTip(history: History, { hash }: Block): History {
  const last = history.operations.at(-1)
  if (!last || !('mine' in last)) return history
  return { ...history, operations: history.operations.with(-1, { ...last, hash }) }
}

/** A journal in memory. */
export class MemoryJournal<Entry> implements Journal<Entry> {
  #entries: Entry[] = []
  readonly #writes = new SerialQueue()

  get size(): number {
    return this.#entries.length
  }

  async *read(): AsyncIterable<Entry> {
    yield* this.#entries
  }

  append(entry: Entry): Promise<void> {
    return this.#writes.run(async () => void this.#entries.push(entry))
  }

  rewrite(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    return this.#writes.run(async () => {
      const next: Entry[] = []
      for await (const entry of entries) next.push(entry)
      this.#entries = next
    })
  }

  async close(): Promise<void> {}
}

/**
 * One change of a chain. The same changes in the same order make the same chain: the same blocks, hashes and balances.
 * It is written to the data directory, so a change of its meaning needs a new format.
 */
export type ChainOperation =
  /** Calls of Anvil's own methods that change balances, allowances or code directly; their order within a batch must not matter. */
  | { cheat: readonly RpcCall[] }
  /** Hash of a transaction that cannot be mined, to be removed from the pool. */
  | { drop: Hex }
  | MineOperation

/** A block at the time `mine` (Unix seconds), made of the signed transactions `send`, in the order in which they were sent. */
interface MineOperation {
  mine: number
  send?: readonly Hex[]
  miner?: Hex
  /** Hash of the block; undefined while it is unknown, as for a block that is to replace another one. */
  hash?: Hex
}

/** The miner of a block for which none is given. */
export const NOBODY = numberToHex(0, { size: 20 })

/** Carries out an operation. Ignores refusals of the pool: a repetition gets the same as the first time. Throws the node's other errors. */
export async function perform(rpc: RpcClient, operation: ChainOperation): Promise<void> {
  if ('cheat' in operation) await rpc.batch(operation.cheat)
  else if ('drop' in operation) await rpc.call('anvil_dropTransaction', operation.drop)
  else {
    // One by one: the calls of a batch are carried out in any order.
    for (const raw of operation.send ?? []) await rpc.settle([['eth_sendRawTransaction', raw]])
    await mine(rpc, operation.mine, operation.miner)
  }
}

/** Mines a block at the given time (Unix seconds). */
export async function mine(rpc: RpcClient, timestamp: number, miner?: Hex): Promise<void> {
  if (miner) await rpc.call('anvil_setCoinbase', miner)
  await rpc.call('evm_mine', { timestamp })
  if (miner) await rpc.call('anvil_setCoinbase', NOBODY)
}
