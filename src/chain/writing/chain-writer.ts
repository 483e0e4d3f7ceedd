import { keccak256 } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { type ChainOperation, mine, perform } from '../history/chain-journal.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, RpcError } from '../json-rpc/rpc-client.ts'
import { JournalSync, type SyncDeps } from './journal-sync.ts'

/** For each transaction in order, the error with which the pool refused it; undefined if it was accepted. */
export type Refusals = (RpcError | undefined)[]

/** Follow-up of a mined block, as soon as the node has it. */
export interface OnceMined {
  /** Calls that share a round trip with the writer's own. */
  ask: readonly RpcCall[]
  /** Called when the node has mined the block, right after these calls have been sent. */
  stands(): void
  /**
   * Called before {@link ChainWriter.mine} resolves, if whatever is stored from then on is stored after the block: with the block itself
   * in one write, if it comes within milliseconds. Not called for journals that are stored each by itself.
   */
  ahead?: ((mined: Mined) => void) | undefined
}

/** A block that was mined and written to the journal. */
export interface Mined {
  number: number
  /** Unix seconds. */
  timestamp: number
  /** Answers to the calls of {@link OnceMined.ask}, in order. */
  answers: unknown[]
}

const UNASKED: OnceMined = { ask: [], stands: () => {} }

/**
 * The only part that changes the chain: transactions, blocks and cheats, strictly one after another (ensured by the block
 * producer's queue). A change is written to the journal before its promise resolves: see {@link JournalSync}.
 */
export class ChainWriter {
  readonly #deps: SyncDeps
  readonly #sync: JournalSync

  constructor(deps: SyncDeps) {
    this.#deps = deps
    this.#sync = new JournalSync(deps)
    deps.events.on('arrived', (tip) => this.#sync.arrive(tip))
  }

  /** Number of blocks, transactions and calls from outside so far. */
  get done(): number {
    return this.#sync.done
  }

  /** Number of changes from outside so far. */
  get foreignChanges(): number {
    return this.#sync.foreignChanges
  }

  /** Number of the last block. */
  get height(): number {
    return this.#sync.archiver.height
  }

  /** Resolves when no change is under way. */
  idle(): Promise<void> {
    return this.#sync.idle()
  }

  /** Finds out if the node mined a block whose answer was cut off. Throws ChainUnavailableError. */
  reconcile(): Promise<void> {
    return this.#sync.reconcile()
  }

  /**
   * Call it before the broadcast of transactions whose bytes are being stored, which takes a round trip on a database: the node may mine them
   * meanwhile. Until `stored` resolves, nothing is written to the journal, and {@link withheld} waits; if it rejects, the node is discarded.
   * @returns false, without effect, if the journals are not stored in one order: then wait for `stored` first
   */
  withholdUntil(stored: Promise<void>): boolean {
    if (!this.#deps.journal.ordered) return false
    this.#sync.withhold(stored)
    return true
  }

  /**
   * Resolves when the bytes of all that the node was sent are stored; undefined if they are. Rejects with ChainUnavailableError. Who asks the
   * node tells nobody outside before.
   */
  get withheld(): Promise<void> | undefined {
    return this.#sync.withheld
  }

  /** Hands signed transactions to the pool. Those of one account are mined by nonce, others in any order. */
  async broadcast(transactions: readonly Hex[]): Promise<Refusals> {
    await this.reconcile() // or they would seem to have been in the pool before an earlier block
    const calls = transactions.map((raw): RpcCall => ['eth_sendRawTransaction', raw])
    const answers = await this.#deps.rpc.settle(calls)
    return transactions.map((raw, i) => {
      const answer = answers[i]
      const refused = answer instanceof RpcError
      // The refusal may mean that the pool has it already, if its first answer got lost.
      this.#sync.sent.add(refused ? keccak256(raw) : (answer as Hex), raw)
      return refused ? answer : undefined
    })
  }

  /**
   * Mines the pool into a block of that timestamp (Unix seconds), or of the latest block's if a block from outside is ahead of it.
   * Resolves when the block is in the journal.
   */
  async mine(timestamp: number, { ask, stands, ahead }: OnceMined = UNASKED): Promise<Mined> {
    await this.#sync.prepare()
    const make = async () => {
      await this.#mineFrom(timestamp)
      const asked = this.#deps.rpc.settle([LATEST_BLOCK, ...ask])
      stands()
      const [block, ...answers] = await asked
      if (block instanceof RpcError) throw block
      return { block: block as Block, answers }
    }
    const found = await this.#sync.track(() => this.#sync.block(make, ahead && ((found) => ahead(minedIn(found)))))
    return minedIn(found)
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly RpcCall[]): Promise<void> {
    await this.#change({ cheat: calls })
    this.#deps.reader.changed()
  }

  /** Removes a transaction that cannot be mined from the pool. */
  async drop(hash: Hex): Promise<void> {
    await this.#change({ drop: hash })
  }

  /** Carries out any call from outside and returns its result. A checkpoint before our next change keeps its effect. */
  async foreign([method, ...params]: RpcCall): Promise<unknown> {
    const sync = this.#sync
    await sync.reconcile()
    await sync.archiver.all() // the call may mine more blocks than the node keeps
    sync.done++
    sync.foreignChanges++
    sync.changedByOthers = true
    sync.sent.clear() // the call may remove them from the pool
    try {
      return await sync.track(() => sync.uncut(() => this.#deps.rpc.call(method, ...params)))
    } finally {
      await sync.look()
    }
  }

  /**
   * Does some of the work that would delay a later change, in tens of milliseconds. Call in a quiet moment.
   * @returns true if there may be more to do
   */
  async tidy(): Promise<boolean> {
    if (await this.#sync.archiver.tidy()) return true
    if (!this.#deps.journal.long) return false
    await this.checkpoint()
    return true
  }

  /** @returns true if there are changes from outside that no checkpoint has kept yet */
  get changedByOthers(): boolean {
    return this.#sync.changedByOthers
  }

  /** @returns true if a checkpoint is due: after changes from outside, or if repeating the journal would take long */
  get unsettled(): boolean {
    return this.changedByOthers || this.#deps.journal.long
  }

  /** Archives every block, and makes the journal begin with a checkpoint of the last one, so that nothing has to be repeated. */
  checkpoint(): Promise<void> {
    return this.#sync.checkpoint()
  }

  /** Mines a block of that timestamp or, if a block from outside is ahead of it, of the latest block's. */
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

function minedIn({ block, answers }: { block: Block; answers: unknown[] }): Mined {
  return { number: Number(block.number), timestamp: Number(block.timestamp), answers }
}

/** Direct changes of balances or allowances, with the callbacks for their outcome. */
export interface CheatJob {
  calls: readonly RpcCall[]
  resolve(): void
  reject(reason: unknown): void
}

/** Carries out jobs in one round trip, or one after another if a call is refused, so that it does not make other jobs fail. */
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
