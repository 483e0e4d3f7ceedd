import type { SandboxClock } from '../../domain/clock.ts'
import {
  ChainUnavailableError,
  ChainUnsoundError,
  type MinedTransfer,
  type UnfinishedTransfer,
} from '../../domain/ports/chain.ts'
import type { Hex } from '../../domain/records.ts'
import type { Logger } from '../../support/logger.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { NodeEvents } from '../json-rpc/node-events.ts'
import { type RpcCall, type RpcClient, unsound } from '../json-rpc/rpc-client.ts'
import type { Protocol } from '../markets/protocols/protocol.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import { type ChainWriter, type CheatJob, type Mined, runCheats } from '../writing/chain-writer.ts'
import type { NodeRecycler } from '../writing/node-recycler.ts'
import {
  logsOf,
  NonceOrder,
  PrefetchedRound,
  readRound,
  type SignedTransfer,
  settleKnown,
  settleMined,
  signRound,
  type TransferJob,
} from './transfer-round.ts'

/**
 * Limit on the transfers in a block. Anvil takes three times as long for a receipt among 500 as for one among 64, and answers
 * nothing meanwhile; smaller blocks do not reduce throughput.
 */
const MAX_ROUND = 128
/** Milliseconds between attempts to reach a node that has fallen silent with signed transfers outstanding. */
const RETRY_PAUSE_MS = 250
/** Number of blocks that a signed transaction may miss before it is given up. */
const MAX_BLOCKS_MISSED = 3

/**
 * Mines blocks by group commit: all transfers that wait when a round begins are decided, signed and mined together in one block,
 * and those that arrive meanwhile go into the next. Nothing else mines blocks, so a transfer is mined at the very timestamp for
 * which its facts were read. Transactions sent to the RPC from outside go into the next block, or one of their own within half
 * a second.
 */
export class BlockProducer {
  readonly #deps: ProducerDeps
  readonly #queue = new SerialQueue()
  #unfinished: SignedTransfer[] = []
  #transfers: TransferJob[] = []
  #cheats: CheatJob[] = []
  readonly #ahead: PrefetchedRound
  #nonces = new NonceOrder()
  #roundDue = false
  #catchUpDue: Promise<void> | undefined
  /** Aborted by a reset or a stop, which ends all work that was begun in this generation. */
  #generation = new AbortController()
  #running: readonly (TransferJob | SignedTransfer)[] = []
  /** Reason why the chain does not answer; transfers that are not signed are refused until it does. */
  #silent: string | undefined
  /** Ends the pause before the next attempt to reach a silent node. */
  #wake: () => void = () => {}
  #stopped: string | undefined
  /** True once no round is to be tried again: the chain is about to stop. */
  #last = false
  #ownChanges = 0

  constructor(deps: ProducerDeps) {
    this.#deps = deps
    this.#ahead = new PrefetchedRound(deps.reader)
    deps.events.on('silent', (reason) => this.#fallSilent(reason)).on('answers', () => this.resume())
    void useQuietMoments({ ...deps, queue: this.#queue, stopped: () => this.#stopped !== undefined })
  }

  /** Reason why transfers cannot be accepted now; undefined if they can. */
  get obstacle(): string | undefined {
    return this.#stopped ?? this.#silent
  }

  /** Aborted by the next reset, or when the producer is stopped. */
  get generation(): AbortSignal {
    return this.#generation.signal
  }

  /** Number of changes that the service itself has made: transfers, and balances given to wallets. */
  get ownChanges(): number {
    return this.#ownChanges
  }

  /** Carries a transfer out in the next round. See `Chain.transfer`. */
  transfer(job: Omit<TransferJob, 'resolve' | 'reject'>): Promise<MinedTransfer> {
    return this.#inNextRound((awaited) => this.#transfers.push({ ...job, ...awaited }))
  }

  /** Carries a transfer that was signed earlier through, before the next round's transfers. See `Chain.finish`. */
  finish(transfer: UnfinishedTransfer & { protocol: Protocol }): Promise<MinedTransfer> {
    return this.#inNextRound((awaited) => this.#unfinished.push({ ...transfer, ...awaited }))
  }

  /** Changes balances or allowances before the next round's transfers. */
  cheat(calls: readonly RpcCall[]): Promise<void> {
    return this.#inNextRound((awaited) => this.#cheats.push({ calls, ...awaited }))
  }

  /** Brings chain time up to the clock by mining the pool into a block, unless there is a block of that time already. */
  catchUp(): Promise<void> {
    // One block serves all callers that wait: it reads the present when its turn comes.
    this.#catchUpDue ??= this.#queue.run(async () => {
      this.#catchUpDue = undefined
      const { reader, writer } = this.#deps
      if (reader.present > reader.latest) await writer.mine(reader.present)
    })
    return this.#catchUpDue
  }

  /** Runs a task with the chain to itself, between two rounds. Throws ChainUnavailableError. */
  async exclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    const obstacle = this.obstacle ?? this.#deps.rpc.held
    if (obstacle !== undefined) throw new ChainUnavailableError(this.#deps.chainId, obstacle)
    return this.#queue.run(task)
  }

  /** Notes that the chain does not answer, and rejects all work that waits for a round. */
  #fallSilent(reason: string): void {
    this.#silent ??= reason
    const error = new ChainUnavailableError(this.#deps.chainId, reason)
    for (const job of this.#takeWaiting()) job.reject(error)
  }

  /** Call when the chain answers again: transfers are accepted, and the next attempt for signed ones begins at once. */
  resume(): void {
    this.#silent = undefined
    this.#wake()
  }

  /** Rejects all running and waiting work, then runs a task with the chain to itself. */
  async interrupt(reason: string, task: () => Promise<void>): Promise<void> {
    this.#abandon(reason)
    this.#generation = new AbortController()
    this.#nonces = new NonceOrder()
    this.#silent = undefined
    this.#roundDue = false // the round that was due belongs to the last generation; new work waits for the task
    await this.#queue.run(task)
  }

  /**
   * From now on, signed transfers that the chain does not take are left to the next run. Call it before {@link exclusive} at a stop: a round
   * that can never be written down would keep its turn for ever.
   */
  tryNoMore(): void {
    this.#last = true
  }

  /** Rejects all running and waiting work, and accepts no more. */
  stop(reason: string): void {
    this.#stopped ??= reason
    this.#abandon(reason)
  }

  #inNextRound<Result>(
    join: (awaited: { resolve(result: Result): void; reject(reason: unknown): void }) => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { obstacle } = this
      if (obstacle !== undefined) return reject(new ChainUnavailableError(this.#deps.chainId, obstacle))
      // Step 8 of docs/a-deposit.md: it waits for the round that comes next, with all who come meanwhile.
      join({ resolve, reject })
      this.#schedule()
    })
  }

  #abandon(reason: string): void {
    const error = new ChainUnavailableError(this.#deps.chainId, reason)
    for (const job of [...this.#running, ...this.#takeWaiting()]) job.reject(error)
    this.#generation.abort()
  }

  #takeWaiting(): { reject(reason: unknown): void }[] {
    return [...this.#unfinished.splice(0), ...this.#transfers.splice(0), ...this.#cheats.splice(0)]
  }

  /** Schedules a round after a turn of the event loop, so that requests that arrived together share it. */
  #schedule(): void {
    if (this.#roundDue) return
    this.#roundDue = true
    const { signal } = this.#generation
    setImmediate(() => {
      void this.#queue.run(async () => {
        if (signal.aborted) return
        this.#roundDue = false
        await this.#round(signal)
        if (this.#transfers.length > 0) this.#schedule()
      })
    })
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { recycler } = this.#deps
    if (recycler.pressing) await recycler.run().catch(() => {}) // the next call to the node gets the error
    this.#ownChanges += this.#cheats.length + this.#unfinished.length + this.#transfers.length
    await runCheats(this.#deps.writer, this.#cheats.splice(0))
    const unfinished = this.#unfinished.splice(0)
    if (unfinished.length > 0) this.#nonces.clear() // they use nonces that no round here has signed
    await this.#run(unfinished, async () => {
      const timestamps = new Set(unfinished.map(({ block_timestamp }) => block_timestamp))
      for (const timestamp of [...timestamps].sort((a, b) => a - b)) {
        const together = unfinished.filter(({ block_timestamp }) => block_timestamp === timestamp)
        await this.#carryThrough(together, signal)
      }
    })
    if (signal.aborted) return
    const ahead = this.#ahead.take(this.#transfers)
    const jobs = this.#transfers.splice(0, ahead?.jobs.length ?? MAX_ROUND)
    const nonces = this.#nonces // those of this generation: a reset makes a new object
    await this.#run(jobs, async () => {
      const { reader, chainId, writer } = this.#deps
      // Step 9 of docs/a-deposit.md: balances, positions and nonces at the timestamp that the block will have.
      const round = (await ahead?.round) ?? (await readRound(reader, jobs))
      nonces.leaveOut(round, writer.foreignChanges)
      for (const [job, reason] of round.unread) job.reject(unsound(chainId, reason))
      // Steps 10 and 11: each job decides its amount by these facts and is signed; the bytes of all are stored in one write.
      const { transfers, stored } = await signRound(round, Number(chainId), signal)
      if (!writer.withholdUntil(stored)) await stored
      nonces.signed(round.nonces)
      stored.catch(() => nonces.clear())
      if (signal.aborted) return
      for (const transfer of transfers) transfer.broadcast?.()
      await this.#carryThrough(transfers, signal, stored)
    })
  }

  /** Runs a task and rejects these jobs with any error that it throws. */
  async #run(jobs: readonly (TransferJob | SignedTransfer)[], task: () => Promise<void>): Promise<void> {
    if (jobs.length === 0) return
    this.#running = jobs
    try {
      await task()
    } catch (error) {
      const reason = unsound(this.#deps.chainId, error)
      for (const job of jobs) job.reject(reason) // without effect for those that have been answered
    } finally {
      this.#running = []
      this.#silent = undefined
    }
  }

  /**
   * Sends signed transfers until all are in blocks, however long the chain is silent: the bytes cannot be taken back. Only a stop leaves
   * them to the next run. Fresh ones are given with the promise that they are stored; others may be in blocks already.
   */
  async #carryThrough(transfers: SignedTransfer[], signal: AbortSignal, stored?: Promise<void>): Promise<void> {
    let outstanding = transfers
    let blocks = 0
    for (let unsent = stored !== undefined; outstanding.length > 0 && !signal.aborted; unsent = false) {
      this.#ahead.drop()
      try {
        if (!unsent) {
          const { writer } = this.#deps
          await writer.reconcile()
          outstanding = await settleKnown(this.#deps, outstanding, writer.height)
        }
        outstanding = await this.#commit(outstanding, blocks >= MAX_BLOCKS_MISSED)
        blocks++
        this.#silent = undefined
        this.#ahead.hold()
      } catch (error) {
        await stored // or there is nothing to send again
        if (this.#last || !(error instanceof ChainUnavailableError)) throw error
        this.#waitForChain(error)
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        await Promise.race([this.#deps.clock.wallSleep(RETRY_PAUSE_MS, signal), woken])
      }
    }
  }

  /** Mines one block at the time for which the transfers were signed. Returns those that are not in it; rejects them if `last`. */
  async #commit(transfers: SignedTransfer[], last: boolean): Promise<SignedTransfer[]> {
    const [first] = transfers
    if (!first) return []
    const { chainId, writer, reader, rpc } = this.#deps
    const failures = rpc.upstreamFailures
    // Step 12 of docs/a-deposit.md: the raw bytes go to the pool.
    const refusals = await writer.broadcast(transfers.map(({ raw_transaction }) => raw_transaction))
    // Step 14: the logs say what moved; the request that waits for a transfer goes on.
    let settled: Promise<SignedTransfer[]> | undefined
    const settle = (mined: Mined) => {
      settled ??= settleMined(this.#deps, transfers, mined)
      return settled
    }
    // Step 13: the block, with the logs of these transfers in the same round trip.
    const mined = await writer.mine(Math.max(first.block_timestamp, reader.latest), {
      ask: [logsOf(transfers)],
      stands: () => this.#ahead.begin(this.#transfers.slice(0, MAX_ROUND)),
      ahead: transfers.some(({ bookedAtOnce }) => bookedAtOnce) ? (mined) => settle(mined).catch(() => {}) : undefined,
    })
    const missing = await settle(mined)
    // A transaction whose state could not be fetched stays out of the block, but was not refused.
    if (missing.length > 0 && rpc.upstreamFailures > failures) throw rpc.unavailable()
    if (!last) return missing
    if (missing.length > 0) this.#nonces.clear()
    for (const transfer of missing) {
      await writer.drop(transfer.tx_hash)
      const refusal = refusals[transfers.indexOf(transfer)]
      const reason = refusal?.reason ?? 'no block takes it'
      transfer.reject(new ChainUnsoundError(chainId, `transaction ${transfer.tx_hash} was not mined: ${reason}`))
    }
    return []
  }

  #waitForChain(error: ChainUnavailableError): void {
    if (this.#silent === undefined) this.#deps.log.warn({ error: error.message }, 'signed transfers wait for the chain')
    this.#silent = this.#deps.rpc.failure ?? error.message
    this.#fallSilent(this.#silent)
  }
}

export interface ProducerDeps {
  chainId: string
  rpc: RpcClient
  events: NodeEvents
  archive: Pick<BlockArchive, 'answer'>
  reader: ChainReader
  writer: ChainWriter
  recycler: NodeRecycler
  clock: SandboxClock
  log: Logger
}

/** Dependencies of {@link useQuietMoments}. */
interface QuietDeps {
  rpc: RpcClient
  reader: ChainReader
  writer: ChainWriter
  recycler: NodeRecycler
  clock: SandboxClock
  /** The producer's queue: a moment is quiet while it is idle. */
  queue: SerialQueue
  stopped(): boolean
}

/** Milliseconds between checks for transactions from outside, and for a quiet moment to tidy up. */
const QUIET_POLL = 500

/** Mines transactions from outside and tidies up while the queue is idle, until the producer is stopped. */
async function useQuietMoments({ rpc, reader, writer, recycler, clock, queue, stopped }: QuietDeps): Promise<void> {
  for (;;) {
    await clock.wallSleep(QUIET_POLL)
    if (stopped()) return
    if (!queue.idle) continue
    try {
      const { pending } = await rpc.call<{ pending: Hex }>('txpool_status')
      if (Number(pending) > 0 && queue.idle) await queue.run(() => writer.mine(reader.present))
      while (queue.idle && (await queue.run(() => writer.tidy())));
      if (queue.idle && recycler.due) await queue.run(() => recycler.run())
    } catch {
      // The client remembers the failure for the chain's status; the next attempt may succeed.
    }
  }
}
