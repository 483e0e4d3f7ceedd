import type { ChainSetup, PoolFacts } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import {
  type Chain,
  ChainUnavailableError,
  type MarketFigures,
  type MinedTransfer,
  type Position,
  type TransferOrder,
  type UnfinishedTransfer,
  type WalletFunding,
  type WalletOwner,
} from '../domain/ports/chain.ts'
import type { Address, Hex, Pool } from '../domain/records.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import type { Logger } from '../support/logger.ts'
import type { BlockArchive } from './archive/block-archive.ts'
import { AnvilControls } from './chain-controls.ts'
import { FetchBudget } from './fork/fetch-budget.ts'
import { atKeptBlock, isFork, openFork, unusable } from './fork/fork.ts'
import type { ForkRelay } from './fork/fork-relay.ts'
import { RpcGateway } from './gateway/rpc-gateway.ts'
import type { ChainJournal, History } from './history/chain-journal.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import { type RpcCall, RpcClient } from './json-rpc/rpc-client.ts'
import { soundly } from './json-rpc/senseless-answer.ts'
import { MarketReads } from './markets/market-reads.ts'
import type { Protocol } from './markets/protocols/protocol.ts'
import { type MarketValidation, validateMarkets } from './markets/validate-markets.ts'
import { NodeSupervisor } from './node/node-supervisor.ts'
import { ChainReader } from './reading/chain-reader.ts'
import { type ResetDeps, resetChain } from './reset-chain.ts'
import { BlockProducer } from './rounds/block-producer.ts'
import { fundingCalls } from './wallets/funding-calls.ts'
import type { Wallets } from './wallets/wallets.ts'
import { ChainWriter } from './writing/chain-writer.ts'
import { NodeRecycler, type RecyclerDeps } from './writing/node-recycler.ts'
import { placeMulticall3 } from './writing/place-multicall3.ts'

/** Milliseconds for a call to a fork: the first of its kind fetches dozens of slots, one after another. */
const FORK_TIMEOUT_MS = 60_000
const TIMEOUT_MS = 10_000

/** Whether a chain can be worked with, and if not, why. */
export interface ChainStatus {
  ok: boolean
  reason?: string
}

/** What an {@link AnvilChain} is made from. */
export interface AnvilChainOptions extends Pick<RecyclerDeps, 'renewAfter'> {
  setup: ChainSetup
  /** What the chain begins with, unless it is a fork. */
  embedded: Checkpoint
  /** What was done so far; empty for a new chain. */
  journal: ChainJournal
  archive: BlockArchive
  wallets: Wallets
  protocols: ReadonlyMap<string, Protocol>
  clock: SandboxClock
  log: Logger
  /** Milliseconds without an answer before a call is given up. */
  rpcTimeout?: number
}

/** A chain on an Anvil process of its own, which is replaced by another one should it die or hang. */
export class AnvilChain implements Chain {
  /**
   * Starts Anvil where the journal ends, brings its time up to the clock and looks at the markets. Throws
   * `ChainSetupError`, `AnvilStartError` or `AnvilBinaryMissingError`.
   */
  static async start(options: AnvilChainOptions): Promise<AnvilChain> {
    const { setup, embedded, journal, clock, log } = options
    const history = await journal.read()
    const fork = isFork(setup)
      ? await openFork(atKeptBlock(setup, history?.checkpoint.forked), { clock, log })
      : undefined
    const origin = fork?.origin ?? embedded
    const chain = new AnvilChain(options, origin, fork?.relay)
    try {
      await chain.#begin(history)
      return chain
    } catch (error) {
      await chain.stop()
      throw setup.fork && fork?.relay.failure ? unusable(setup.fork, fork.relay.failure, error) : error
    }
  }

  readonly chain_id: string
  readonly #options: AnvilChainOptions
  readonly #origin: Checkpoint
  readonly #upstream: ForkRelay | undefined
  readonly #rpc: RpcClient
  readonly #reader: ChainReader
  readonly #writer: ChainWriter
  readonly #producer: BlockProducer
  readonly #whole: ResetDeps
  readonly #supervisor: NodeSupervisor
  readonly #controls: AnvilControls
  readonly #gateway: RpcGateway
  readonly #reads: MarketReads
  readonly #unsubscribe: () => void
  #resetting = false
  #stopped = false
  #survey: MarketValidation | undefined

  private constructor(options: AnvilChainOptions, origin: Checkpoint, upstream: ForkRelay | undefined) {
    const { setup, journal, archive, clock, log } = options
    const { chain_id: chainId } = setup
    this.chain_id = chainId
    this.#options = options
    this.#origin = origin
    this.#upstream = upstream
    const timeout = options.rpcTimeout ?? (upstream ? FORK_TIMEOUT_MS : TIMEOUT_MS)
    const fetches = new FetchBudget(clock, upstream)
    this.#rpc = new RpcClient({ chainId, timeout, upstream: fetches })
    this.#reader = new ChainReader(this.#rpc, clock, options.rpcTimeout ?? (upstream && FORK_TIMEOUT_MS))
    const parts = { chainId, rpc: this.#rpc, reader: this.#reader, journal, clock, log }
    this.#writer = new ChainWriter({ ...parts, archive, discard: (reason) => this.#supervisor.discard(reason) })
    this.#supervisor = new NodeSupervisor({
      ...parts,
      node: { chainId, archive, clock, log, timeout: Math.max(timeout, TIMEOUT_MS), fetches },
      idle: () => this.#writer.idle(),
      arrived: (tip) => this.#writer.arrive(tip),
      silent: (reason) => this.#producer.fallSilent(reason),
      answers: () => this.#answering(),
    })
    const kept = { ...options, ...parts, writer: this.#writer, supervisor: this.#supervisor }
    this.#producer = new BlockProducer({ ...kept, recycler: new NodeRecycler(kept) })
    this.#whole = { ...kept, producer: this.#producer }
    this.#controls = new AnvilControls({
      ...kept,
      producer: this.#producer,
      admin: (pool) => this.#protocol(pool).admin,
    })
    this.#gateway = new RpcGateway({ ...kept, producer: this.#producer, fetches })
    const oracle = () => this.#survey?.priceOracle ?? setup.price_oracle
    this.#reads = new MarketReads({ ...parts, protocol: (pool) => this.#protocol(pool), oracle })
    this.#unsubscribe = clock.onMove(() => this.#follow())
  }

  get pid(): number {
    return this.#supervisor.pid
  }

  get status(): ChainStatus {
    const reason = this.#rpc.held ?? this.#producer.obstacle ?? this.#rpc.failure
    return reason === undefined ? { ok: true } : { ok: false, reason }
  }

  async relay(body: unknown): Promise<string | undefined> {
    // The archive would go on answering.
    if (this.#controls.paused) throw new ChainUnavailableError(this.chain_id, 'paused by a fault')
    return this.#gateway.answer(body)
  }

  ask = (calls: readonly RpcCall[]): Promise<unknown[]> => this.#reader.inTime(this.#rpc.settle(calls))

  outcome(hash: Hex): 'success' | 'reverted' | undefined {
    return this.#options.archive.outcome(hash)
  }

  market(pool: Pool): Promise<MarketFigures> {
    return this.#reads.market(pool)
  }

  values(positions: readonly Position[]): Promise<bigint[]> {
    return this.#reads.values(positions)
  }

  async shares(owner: WalletOwner, pool: Pool): Promise<bigint> {
    return this.#reads.shares(this.#options.wallets.of(owner).address, pool)
  }

  async walletBalance(owner: WalletOwner, token: Address): Promise<bigint> {
    return this.#reads.balance(this.#options.wallets.of(owner).address, token)
  }

  async fundWallet(owner: WalletOwner, funding: readonly WalletFunding[]): Promise<void> {
    const calls = fundingCalls(this.#options.wallets.of(owner).address, funding)
    if (calls.length > 0) await this.#soundly(() => this.#reader.inTime(this.#producer.cheat(calls)))
  }

  transfer(order: TransferOrder): Promise<MinedTransfer> {
    const protocol = this.#protocol(order.position.pool)
    return this.#producer.transfer({ order, protocol, wallet: this.#options.wallets.of(order.owner) })
  }

  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer> {
    return this.#producer.finish({ ...transfer, protocol: this.#protocol(transfer.pool) })
  }

  reorg = (): Promise<void> => this.#controls.reorg()

  /** Undoes whatever controls may have done to the markets, unless they are somebody else's. */
  async mend(): Promise<void> {
    if (!this.#upstream) await this.#soundly(() => this.#controls.mend(this.#options.setup.markets ?? []))
  }

  /** Brings chain time up to the clock, should it lag. Throws ChainUnavailableError. */
  async catchUp(): Promise<void> {
    if (this.#reader.present > this.#reader.latest) await this.#producer.catchUp()
  }

  /** Does nothing during a reset, which a pause would cut in two. */
  pause(): void {
    if (!this.#resetting) this.#controls.pause()
  }

  resume(): void {
    if (this.#controls.resume()) this.#follow() // the clock may have moved meanwhile
  }

  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void> {
    return this.#soundly(() => this.#controls.setPoolPaused(pool, paused))
  }

  setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void> {
    return this.#soundly(() => this.#controls.setPoolLiquid(pool, liquid))
  }

  setApy(pool: PoolFacts, apy: number | undefined): Promise<void> {
    return this.#soundly(() => this.#controls.setApy(pool, apy))
  }

  /** Back to the state it was made with, at the clock's present: see {@link resetChain}. */
  async reset(): Promise<void> {
    this.#resetting = true
    this.#controls.resume()
    try {
      await resetChain(this.#whole, this.#origin)
    } finally {
      this.#resetting = false
    }
  }

  /** Ends Anvil; transfers under way are rejected. What others did to the chain is kept, if there is a journal to keep it. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#unsubscribe()
    this.#controls.resume()
    if (this.#writer.unsettled || this.#options.journal.slow) {
      await this.#producer
        .exclusive(() => this.#writer.checkpoint())
        .catch((error: Error) => {
          if (!this.#writer.changedByOthers) return // all is in the journal, and done again at the next start
          this.#options.log.warn({ err: error }, 'no last checkpoint: what others did to the chain is not kept')
        })
    }
    this.#producer.stop('it was stopped')
    await this.#supervisor.stop()
    this.#rpc.close()
    this.#upstream?.close()
    await this.#options.journal.close()
  }

  async #begin(history: History | undefined): Promise<void> {
    const start = history ?? { checkpoint: this.#origin, operations: [] }
    if (!history) await this.#options.journal.replace(start)
    await this.#supervisor.start(start)
    const { clock, setup, protocols } = this.#options
    const prepare = async () => {
      // A loaded state has a time of its own, and Aave refuses to work in its own past. A chain that was kept first finishes
      // the transfers that were under way, at the time they were signed for.
      if (!history) await this.#writer.mine(this.#reader.present)
      else if (!this.#upstream) await placeMulticall3(this.#whole, this.#options.embedded)
      this.#survey = await validateMarkets(setup, protocols, this.#reader.read)
    }
    await retryChainOutage(prepare, { clock, ended: () => this.#stopped || this.#upstream?.failure !== undefined })
  }

  /** Anvil answers again, or another one in its place. */
  #answering(): void {
    this.#producer.resume()
    this.#follow()
  }

  /** The clock was moved. */
  #follow(): void {
    this.#reader.changed()
    this.catchUp().catch((error: Error) => this.#options.log.warn({ error: error.message }, 'no block at the new time'))
  }

  readonly #soundly = <Result>(task: () => Promise<Result>): Promise<Result> => soundly(this.chain_id, task)

  #protocol(pool: PoolFacts): Protocol {
    const protocol = this.#survey?.protocol(pool) ?? this.#options.protocols.get(pool.protocol)
    if (!protocol) throw new Error(`pool ${pool.pool_id} names an unknown protocol: ${pool.protocol}`)
    return protocol
  }
}
