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
import { type ChainWriter, type CheatJob, type Refusals, runCheats } from '../writing/chain-writer.ts'
import type { NodeRecycler } from '../writing/node-recycler.ts'
import { logsOf, settleKnown, settleMined } from './deliver-receipts.ts'
import {
  NonceOrder,
  PrefetchedRound,
  readRound,
  type SignedTransfer,
  signRound,
  type TransferJob,
} from './transfer-round.ts'

/**
 * Transfers in a block. Anvil takes three times as long for a receipt among 500 as for one among 64, and answers nothing
 * meanwhile; smaller blocks cost no throughput.
 */
const MAX_ROUND = 128
/** Milliseconds between attempts to reach a node that has fallen silent with signed transfers outstanding. */
const RETRY_PAUSE_MS = 250
/** Blocks a signed transaction may miss before it is given up. */
const MAX_BLOCKS_MISSED = 3

/**
 * Mines blocks by group commit: whatever waits when a round begins is decided, signed and mined together in one block,
 * and what arrives meanwhile makes the next. Blocks are made by nothing else, so the timestamp a transfer's facts were
 * read for is the timestamp it is mined at. Transactions others send to the RPC go into the next block, or one of their
 * own within half a second.
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
  /** A reset or a stop ends it, and with it whatever was begun in it. */
  #generation = new AbortController()
  #running: readonly (TransferJob | SignedTransfer)[] = []
  /** Why the chain does not answer, while signed transfers are being carried through. */
  #silent: string | undefined
  /** Ends the pause before the next attempt to reach a silent node. */
  #wake: () => void = () => {}
  #stopped: string | undefined
  #ownChanges = 0

  constructor(deps: ProducerDeps) {
    this.#deps = deps
    this.#ahead = new PrefetchedRound(deps.reader)
    deps.events.on('silent', (reason) => this.#fallSilent(reason)).on('answers', () => this.resume())
    void useQuietMoments({ ...deps, queue: this.#queue, stopped: () => this.#stopped !== undefined })
  }

  /** Why no transfer can be taken now. */
  get obstacle(): string | undefined {
    return this.#stopped ?? this.#silent
  }

  /** Aborted by the next reset, or when it is stopped. */
  get generation(): AbortSignal {
    return this.#generation.signal
  }

  /** Counts what the service itself had done to the chain: transfers, and balances given to wallets. */
  get ownChanges(): number {
    return this.#ownChanges
  }

  /** Carries a transfer out in the next round. See `Chain.transfer`. */
  transfer(job: Omit<TransferJob, 'resolve' | 'reject'>): Promise<MinedTransfer> {
    return this.#inNextRound((awaited) => this.#transfers.push({ ...job, ...awaited }))
  }

  /** Carries through what was signed earlier, before the next round's transfers. See `Chain.finish`. */
  finish(transfer: UnfinishedTransfer & { protocol: Protocol }): Promise<MinedTransfer> {
    return this.#inNextRound((awaited) => this.#unfinished.push({ ...transfer, ...awaited }))
  }

  /** Changes balances or allowances before the next round's transfers. */
  cheat(calls: readonly RpcCall[]): Promise<void> {
    return this.#inNextRound((awaited) => this.#cheats.push({ calls, ...awaited }))
  }

  /** Brings chain time up to the clock with a block of whatever the pool holds, unless a block of that time is there by then. */
  catchUp(): Promise<void> {
    // One block for everybody who waits: it reads the present when its turn comes.
    this.#catchUpDue ??= this.#queue.run(async () => {
      this.#catchUpDue = undefined
      const { reader, writer } = this.#deps
      if (reader.present > reader.latest) await writer.mine(reader.present)
    })
    return this.#catchUpDue
  }

  /** Runs a task with the chain to itself, between two rounds. */
  async exclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    const obstacle = this.obstacle ?? this.#deps.rpc.held
    if (obstacle !== undefined) throw new ChainUnavailableError(this.#deps.chainId, obstacle)
    return this.#queue.run(task)
  }

  /** The chain gives no answer: what is not signed yet is refused at once. */
  #fallSilent(reason: string): void {
    this.#silent ??= reason
    const error = new ChainUnavailableError(this.#deps.chainId, reason)
    for (const job of this.#takeWaiting()) job.reject(error)
  }

  /** Call when the chain answers again: transfers are taken at once, and signed ones carried through. */
  resume(): void {
    this.#silent = undefined
    this.#wake()
  }

  /** Rejects all that is under way or waiting, then runs a task with the chain to itself. */
  async interrupt(reason: string, task: () => Promise<void>): Promise<void> {
    this.#abandon(reason)
    this.#generation = new AbortController()
    this.#nonces = new NonceOrder()
    this.#silent = undefined
    this.#roundDue = false // the round due was the last generation's: what comes from now on waits for the task
    await this.#queue.run(task)
  }

  /** Rejects all that is under way or waiting, and takes nothing more. */
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

  /** A turn of the event loop lets requests that arrived together share a round. */
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
    if (recycler.pressing) await recycler.run().catch(() => {}) // whoever needs the node next is told
    this.#ownChanges += this.#cheats.length + this.#unfinished.length + this.#transfers.length
    await runCheats(this.#deps.writer, this.#cheats.splice(0))
    const unfinished = this.#unfinished.splice(0)
    if (unfinished.length > 0) this.#nonces.clear() // they use nonces up that no round has signed with
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
    const nonces = this.#nonces // whatever is read before a reset says nothing of what comes after it
    await this.#run(jobs, async () => {
      const { reader, chainId, writer } = this.#deps
      // Step 9 of docs/a-deposit.md: balances, positions and nonces at the timestamp that the block will have.
      const round = (await ahead?.round) ?? (await readRound(reader, jobs))
      nonces.leaveOut(round, writer.foreignChanges)
      for (const [job, reason] of round.unread) job.reject(unsound(chainId, reason))
      let sent: Promise<Refusals> = Promise.resolve([])
      // Steps 10 and 11: each job decides its amount by these facts and is signed; its bytes are stored.
      // Step 12: those that are ready go to the pool while the next are signed.
      const signed = await signRound(round, Number(chainId), signal, (some) => {
        const answer = writer.broadcast(some.map(({ raw_transaction }) => raw_transaction))
        sent = Promise.all([sent, answer]).then(([before, own]) => [...before, ...own])
        sent.catch(() => {}) // whoever carries them through is told
      })
      nonces.signed(round.nonces)
      await sent.catch(() => {}) // called off or not: whoever has the queue next finds nothing under way
      await this.#carryThrough(signed, signal, sent)
    })
  }

  /** Whatever the task throws, these hear of it. */
  async #run(jobs: readonly (TransferJob | SignedTransfer)[], task: () => Promise<void>): Promise<void> {
    if (jobs.length === 0) return
    this.#running = jobs
    try {
      await task()
    } catch (error) {
      const reason = unsound(this.#deps.chainId, error)
      for (const job of jobs) job.reject(reason) // those that were answered already do not mind
    } finally {
      this.#running = []
      this.#silent = undefined
    }
  }

  /**
   * From here on the bytes are out of our hands: try until the chain has them all in blocks, however long it is silent.
   * `sent` is their first broadcast; without it they may stand in blocks already.
   */
  async #carryThrough(transfers: SignedTransfer[], signal: AbortSignal, sent?: Promise<Refusals>): Promise<void> {
    let outstanding = transfers
    let blocks = 0
    for (let known = sent; outstanding.length > 0 && !signal.aborted; known = undefined) {
      this.#ahead.drop()
      try {
        if (!known) {
          const { writer } = this.#deps
          await writer.reconcile()
          outstanding = await settleKnown(this.#deps, outstanding, writer.height)
        }
        outstanding = await this.#commit(outstanding, blocks >= MAX_BLOCKS_MISSED, known)
        blocks++
        this.#silent = undefined
        this.#ahead.hold()
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error
        this.#waitForChain(error)
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        await Promise.race([this.#deps.clock.wallSleep(RETRY_PAUSE_MS, signal), woken])
      }
    }
  }

  /** One block, of the time the transfers were signed for. Returns those that are not in it. */
  async #commit(transfers: SignedTransfer[], last: boolean, sent?: Promise<Refusals>): Promise<SignedTransfer[]> {
    const [first] = transfers
    if (!first) return []
    const { chainId, writer, reader, rpc } = this.#deps
    const failures = rpc.upstreamFailures
    const refusals = await (sent ?? writer.broadcast(transfers.map(({ raw_transaction }) => raw_transaction)))
    // Step 13 of docs/a-deposit.md: the block, with the logs of these transfers in the same round trip.
    const mined = await writer.mine(Math.max(first.block_timestamp, reader.latest), {
      ask: [logsOf(transfers)],
      stands: () => this.#ahead.begin(this.#transfers.slice(0, MAX_ROUND)),
    })
    // Step 14: the logs say what moved; whoever waits for a transfer goes on.
    const missing = await settleMined(this.#deps, transfers, mined)
    // A transaction whose state could not be fetched stays out of the block: that is no refusal.
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

/** What quiet moments are used for. */
interface QuietDeps {
  rpc: RpcClient
  reader: ChainReader
  writer: ChainWriter
  recycler: NodeRecycler
  clock: SandboxClock
  /** The producer's: quiet while nobody is in it. */
  queue: SerialQueue
  stopped(): boolean
}

/** Milliseconds between looks for transactions that others sent to the RPC, and for a moment to tidy in. */
const QUIET_POLL = 500

/** Mines what others sent and tidies up, while nothing else is to be done, until the producer is stopped. */
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
      // The client remembers the failure for the chain's status; the next look may succeed.
    }
  }
}
