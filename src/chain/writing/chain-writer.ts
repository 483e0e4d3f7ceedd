import { keccak256 } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { type ChainOperation, mine, perform } from '../history/chain-journal.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, RpcError } from '../json-rpc/rpc-client.ts'
import { JournalSync, type SyncDeps } from './journal-sync.ts'

/** Why transactions were not taken, in their order; undefined for those that were. */
export type Refusals = (RpcError | undefined)[]

/** What somebody who had a block mined wants as soon as the node has it. */
export interface OnceMined {
  /** Questions that share a round trip with the writer's own. */
  ask: readonly RpcCall[]
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
 * producer's queue sees to that). What was done is written to the journal before anybody is told that it was: see
 * {@link JournalSync}.
 */
export class ChainWriter {
  readonly #deps: SyncDeps
  readonly #sync: JournalSync

  constructor(deps: SyncDeps) {
    this.#deps = deps
    this.#sync = new JournalSync(deps)
    deps.events.on('arrived', (tip) => this.#sync.arrive(tip))
  }

  /** Blocks and transactions so far, and what others did. */
  get done(): number {
    return this.#sync.done
  }

  /** How often others changed the chain. */
  get foreignChanges(): number {
    return this.#sync.foreignChanges
  }

  /** The number of the last block. */
  get height(): number {
    return this.#sync.archiver.height
  }

  /** Resolves when no change is under way. */
  idle(): Promise<void> {
    return this.#sync.idle()
  }

  /** Finds out what the node did whose answer was cut off. Throws ChainUnavailableError. */
  reconcile(): Promise<void> {
    return this.#sync.reconcile()
  }

  /**
   * Hands signed transactions to the pool; those of one account are mined by nonce, others in any order. Says who was
   * refused.
   */
  async broadcast(transactions: readonly Hex[]): Promise<Refusals> {
    await this.reconcile() // or they would seem to have been there before a block that was asked for earlier
    const calls = transactions.map((raw): RpcCall => ['eth_sendRawTransaction', raw])
    const answers = await this.#deps.rpc.settle(calls)
    return transactions.map((raw, i) => {
      const answer = answers[i]
      const refused = answer instanceof RpcError
      // Refused may mean that it is known: its first answer got lost.
      this.#sync.sent.add(refused ? keccak256(raw) : (answer as Hex), raw)
      return refused ? answer : undefined
    })
  }

  /**
   * Mines what the pool holds into a block of that timestamp, or of the latest block's should somebody else have mined
   * ahead of it. Resolves when it is kept.
   */
  async mine(timestamp: number, { ask, stands }: OnceMined = UNASKED): Promise<Mined> {
    await this.#sync.prepare()
    const make = async () => {
      await this.#mineFrom(timestamp)
      const asked = this.#deps.rpc.settle([LATEST_BLOCK, ...ask])
      stands()
      const [block, ...answers] = await asked
      if (block instanceof RpcError) throw block
      return { block: block as Block, answers }
    }
    const { block, answers } = await this.#sync.track(() => this.#sync.block(make))
    return { number: Number(block.number), timestamp: Number(block.timestamp), answers }
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly RpcCall[]): Promise<void> {
    await this.#change({ cheat: calls })
    this.#deps.reader.changed()
  }

  /** Takes a transaction that cannot be mined out of the pool. */
  async drop(hash: Hex): Promise<void> {
    await this.#change({ drop: hash })
  }

  /** Carries out what somebody else asked of the node, whatever it is: a checkpoint keeps it, taken before our next change. */
  async foreign([method, ...params]: RpcCall): Promise<unknown> {
    const sync = this.#sync
    await sync.reconcile()
    await sync.archiver.all() // the call may mine more blocks than the node keeps
    sync.done++
    sync.foreignChanges++
    sync.changedByOthers = true
    sync.sent.clear() // it may take them out of the pool
    try {
      return await sync.track(() => sync.uncut(() => this.#deps.rpc.call(method, ...params)))
    } finally {
      await sync.look()
    }
  }

  /**
   * For a quiet moment: does a piece of what would hold up a change some time later, in tens of milliseconds. Says whether
   * there is more to do.
   */
  async tidy(): Promise<boolean> {
    if (await this.#sync.archiver.tidy()) return true
    if (!this.#deps.journal.long) return false
    await this.checkpoint()
    return true
  }

  /** @returns true if others changed the chain in ways that no checkpoint has kept yet. */
  get changedByOthers(): boolean {
    return this.#sync.changedByOthers
  }

  /** @returns true if a checkpoint is due: others changed the chain, or doing all of it again would take long. */
  get unsettled(): boolean {
    return this.changedByOthers || this.#deps.journal.long
  }

  /** Leaves nothing to be done again: archives every block, and has the journal begin with the last one. */
  checkpoint(): Promise<void> {
    return this.#sync.checkpoint()
  }

  /** A block of that timestamp or, should somebody else have mined ahead of it, of the latest block's. */
  async #mineFrom(timestamp: number): Promise<void> {
    const { rpc, reader } = this.#deps
    try {
      await mine(rpc, timestamp)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await reader.refresh()
      await mine(rpc, Math.max(timestamp, reader.latest))
    }
  }

  async #change(operation: ChainOperation): Promise<void> {
    await this.#sync.prepare()
    await this.#sync.track(() => this.#sync.change(operation, () => perform(this.#deps.rpc, operation)))
  }
}

/** Direct changes of balances or allowances that somebody waits for. */
export interface CheatJob {
  calls: readonly RpcCall[]
  resolve(): void
  reject(reason: unknown): void
}

/** Carries out what waits in one round trip, or one job after another if a call is refused: it must not fail its neighbours. */
export async function runCheats(writer: ChainWriter, jobs: readonly CheatJob[]): Promise<void> {
  if (jobs.length === 0) return
  try {
    await writer.cheat(jobs.flatMap(({ calls }) => calls))
    for (const job of jobs) job.resolve()
  } catch (error) {
    if (jobs.length > 1 && error instanceof RpcError) for (const job of jobs) await runCheats(writer, [job])
    else for (const job of jobs) job.reject(error)
  }
}
