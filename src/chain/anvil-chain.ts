import { type ChainSetup, MULTICALL3, type PoolFacts } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import {
  ChainUnavailableError,
  type MinedTransfer,
  type TransferOrder,
  type UnfinishedTransfer,
  type WalletFunding,
} from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import { retryChainOutage } from '../domain/retry-chain-outage.ts'
import type { Logger } from '../support/logger.ts'
import { inTime } from '../support/waiting.ts'
import type { ArchiveSegment } from './archive/archived-block.ts'
import type { BlockArchive } from './archive/block-archive.ts'
import { AnvilControls, type RulerDeps } from './chain-controls.ts'
import { FetchBudget } from './fork/fetch-budget.ts'
import { type Fork, unusable } from './fork/fork.ts'
import { RpcGateway } from './gateway/rpc-gateway.ts'
import type { ChainJournal, History } from './history/chain-journal.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import { NodeEvents } from './json-rpc/node-events.ts'
import { CALL_TIME } from './json-rpc/rpc-budget.ts'
import { type RpcCall, RpcClient, soundly } from './json-rpc/rpc-client.ts'
import { MarketReads } from './markets/market-reads.ts'
import type { Protocol } from './markets/protocols/protocol.ts'
import { type MarketValidation, validateMarkets } from './markets/validate-markets.ts'
import type { AnvilNode } from './node/anvil-node.ts'
import { NodeSupervisor } from './node/node-supervisor.ts'
import { ChainReader } from './reading/chain-reader.ts'
import { keepAll, type ResetDeps, type RestDeps, type RestTerms, resetChain, restChain } from './rest-and-reset.ts'
import { BlockProducer } from './rounds/block-producer.ts'
import { fundingCalls, type Wallet } from './wallets/wallet.ts'
import { ChainWriter } from './writing/chain-writer.ts'
import { NodeRecycler, type RecyclerDeps } from './writing/node-recycler.ts'

/** State of a chain at one moment, from which other chains can go on. It is immutable and shared by all of them. */
export interface ChainCopy {
  readonly history: History
  /** The blocks that its node may have forgotten. */
  readonly archived: readonly ArchiveSegment[]
  readonly survey: MarketValidation | undefined
}

/** Copies with which chains begin, by chain id. */
export type ChainCopies = ReadonlyMap<string, ChainCopy>

/** Milliseconds until a call to a fork must be answered: the first of its kind fetches dozens of slots, one after another. */
const FORK_TIMEOUT_MS = 60_000
const TIMEOUT_MS = 10_000

/** Health of a chain; `reason` says why it cannot be used. */
export interface ChainStatus {
  ok: boolean
  reason?: string
}

/** Dependencies of an {@link AnvilChain}. */
export interface AnvilChainOptions extends Pick<RecyclerDeps, 'renewAfter'>, Pick<RulerDeps, 'governingKey'> {
  setup: ChainSetup
  /** The first checkpoint of the chain, unless it is a fork. */
  embedded: Checkpoint
  /** The real chain that it forks. */
  fork?: Fork | undefined
  /** The history so far; empty for a new chain. The caller must close it, and the fork. */
  journal: ChainJournal
  archive: BlockArchive
  /** Earlier findings about the markets; without them the markets are checked. */
  survey?: MarketValidation | undefined
  /** A node at the end of the journal, which the chain then owns; without it one is started. */
  node?: AnvilNode | undefined
  /** Takes over the node of a chain that is stopped, if it can begin again as one that nobody has used; without it every node is ended. */
  giveBack?: ((node: AnvilNode) => Promise<void>) | undefined
  protocols: ReadonlyMap<string, Protocol>
  clock: SandboxClock
  log: Logger
  /** Called when a node's process has been started. */
  spawned?: (() => void) | undefined
  /** Milliseconds without an answer before a call is given up. */
  rpcTimeout?: number
  /** See GatewayDeps. */
  blockTime?: number | undefined
}

/** A running chain on an Anvil process of its own, which is replaced if it dies or hangs. */
export class AnvilChain {
  /**
   * Starts Anvil at the end of the journal, and checks the markets; a new chain gets a block at the clock's time first. Throws
   * `ChainSetupError`, `AnvilStartError` or `AnvilBinaryMissingError`.
   */
  static async start(options: AnvilChainOptions): Promise<AnvilChain> {
    const { setup, fork } = options
    const chain = new AnvilChain(options)
    try {
      await chain.#begin(await options.journal.read())
      return chain
    } catch (error) {
      await chain.#end('it did not begin') // without a last checkpoint: the kept data may be damaged
      throw setup.fork && fork?.relay.failure ? unusable(setup.fork, fork.relay.failure, error) : error
    }
  }

  readonly chain_id: string
  /** Reads of its markets and wallets. */
  readonly reads: MarketReads
  /** Controls by which faults act on it. */
  readonly controls: AnvilControls
  readonly #options: AnvilChainOptions
  readonly #rpc: RpcClient
  readonly #reader: ChainReader
  readonly #writer: ChainWriter
  readonly #producer: BlockProducer
  readonly #whole: ResetDeps & RestDeps
  readonly #supervisor: NodeSupervisor
  readonly #gateway: RpcGateway
  #resetting = false
  #stopped = false
  #survey: MarketValidation | undefined

  private constructor(options: AnvilChainOptions) {
    const { setup, journal, archive, clock, log, spawned } = options
    const { chain_id: chainId } = setup
    const upstream = options.fork?.relay
    this.chain_id = chainId
    this.#options = options
    this.#survey = options.survey
    const timeout = options.rpcTimeout ?? (upstream ? FORK_TIMEOUT_MS : TIMEOUT_MS)
    const fetches = new FetchBudget(clock, upstream)
    this.#rpc = new RpcClient({ chainId, timeout, upstream: fetches })
    this.#reader = new ChainReader(this.#rpc, clock, options.rpcTimeout ?? (upstream && FORK_TIMEOUT_MS))
    const events = new NodeEvents()
    const parts = { chainId, rpc: this.#rpc, reader: this.#reader, events, journal, clock, log }
    this.#writer = new ChainWriter({ ...parts, archive })
    this.#supervisor = new NodeSupervisor({
      ...parts,
      node: { chainId, archive, clock, log, timeout: Math.max(timeout, TIMEOUT_MS), fetches, spawned },
      idle: () => this.#writer.idle(),
    })
    const kept = { ...options, ...parts, writer: this.#writer, supervisor: this.#supervisor }
    this.#producer = new BlockProducer({ ...kept, recycler: new NodeRecycler(kept) })
    events.on('answers', () => void this.follow())
    this.#whole = { ...kept, producer: this.#producer }
    this.controls = new AnvilControls({
      ...kept,
      producer: this.#producer,
      admin: (pool) => this.#protocol(pool).admin,
    })
    this.#gateway = new RpcGateway({ ...kept, producer: this.#producer, fetches })
    const oracle = () => this.#survey?.priceOracle ?? setup.price_oracle
    this.reads = new MarketReads({ ...parts, protocol: (pool) => this.#protocol(pool), oracle })
  }

  get pid(): number {
    return this.#supervisor.pid
  }

  get status(): ChainStatus {
    const reason = this.#rpc.held ?? this.#producer.obstacle ?? this.#rpc.failure
    return reason === undefined ? { ok: true } : { ok: false, reason }
  }

  /** Findings about its markets; undefined until they have been checked. */
  get survey(): MarketValidation | undefined {
    return this.#survey
  }

  async relay(body: unknown): Promise<string | undefined> {
    // Otherwise the archive would still answer.
    if (this.controls.paused) throw new ChainUnavailableError(this.chain_id, 'paused by a fault')
    const answer = await this.#gateway.answer(body)
    await this.#released()
    return answer
  }

  ask = async (calls: readonly RpcCall[]): Promise<unknown[]> => {
    const answers = await this.#reader.inTime(this.#rpc.settle(calls))
    await this.#released()
    return answers
  }

  /** Resolves when all that the node's answers show is stored: nobody outside may see it before. Throws ChainUnavailableError. */
  async #released(): Promise<void> {
    const withheld = this.#writer.withheld
    if (!withheld) return
    const late = () => new ChainUnavailableError(this.chain_id, 'what it did last is not stored yet')
    await inTime(withheld, this.#options.clock.wallSleep(CALL_TIME), late)
  }

  async fundWallet({ address }: Wallet, funding: readonly WalletFunding[]): Promise<void> {
    const calls = fundingCalls(address, funding)
    if (calls.length > 0) await soundly(this.chain_id, () => this.#reader.inTime(this.#producer.cheat(calls)))
  }

  /** See `Chain.transfer`; the wallet is that of the order's owner. */
  transfer(order: TransferOrder, wallet: Wallet): Promise<MinedTransfer> {
    return this.#producer.transfer({ order, protocol: this.#protocol(order.position.pool), wallet })
  }

  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer> {
    return this.#producer.finish({ ...transfer, protocol: this.#protocol(transfer.pool) })
  }

  /** Brings chain time up to the clock if it lags. Throws ChainUnavailableError. */
  async catchUp(): Promise<void> {
    if (this.#reader.present > this.#reader.latest) await this.#producer.catchUp()
  }

  /** Call when the clock was moved. Resolves when a block of the new time has been mined, or the attempt has failed. */
  async follow(): Promise<void> {
    this.#reader.changed()
    const { log } = this.#options
    await this.catchUp().catch((error: Error) => log.warn({ error: error.message }, 'no block at the new time'))
  }

  /** Pauses the chain. Does nothing during a reset, which a pause would interrupt. */
  pause(): void {
    if (!this.#resetting) this.controls.pause()
  }

  resume(): void {
    if (this.controls.resume()) void this.follow() // the clock may have moved meanwhile
  }

  /** Takes the chain back to its first state, at the clock's present: see {@link resetChain}. */
  async reset(): Promise<void> {
    this.#resetting = true
    this.controls.resume()
    try {
      await resetChain(this.#whole, this.#origin)
    } finally {
      this.#resetting = false
    }
  }

  /**
   * Runs a task while the journal is complete and nothing changes the chain; with `condensed`, the journal is a checkpoint alone, and the
   * archive has every block. Throws ChainUnavailableError.
   */
  still<Result>(task: () => Promise<Result>, condensed: boolean): Promise<Result> {
    return this.#producer.exclusive(async () => {
      if (condensed) await this.#writer.checkpoint()
      else await keepAll(this.#whole)
      return task()
    })
  }

  /**
   * Ends Anvil if another one can later take its place unnoticed: see {@link restChain}.
   * @returns true if Anvil was ended
   */
  async rest(terms: RestTerms): Promise<boolean> {
    return restChain(this.#whole, terms, () => {
      this.#stopped = true
      return this.#end('it rests').catch((error) =>
        this.#options.log.warn({ err: error }, 'an Anvil did not end in order'),
      )
    })
  }

  /** Ends Anvil and rejects running transfers. A last checkpoint keeps changes from outside, if it can still be taken. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.controls.resume()
    this.#producer.tryNoMore()
    if (this.#writer.unsettled || this.#options.journal.slow) {
      await this.#producer
        .exclusive(() => this.#writer.checkpoint())
        .catch((error: Error) => {
          if (!this.#writer.changedByOthers) return // the journal is complete, and is repeated at the next start
          this.#options.log.warn({ err: error }, 'no last checkpoint: what others did to the chain is not kept')
        })
    }
    await this.#end('it was stopped', this.#reusable ? this.#options.giveBack : undefined)
  }

  get #origin(): Checkpoint {
    return this.#options.fork?.origin ?? this.#options.embedded
  }

  async #end(reason: string, giveBack?: AnvilChainOptions['giveBack']): Promise<void> {
    this.#producer.stop(reason)
    this.#rpc.hold(reason) // ends the work of a quiet moment as well
    await this.#supervisor.stop(giveBack)
    this.#rpc.close()
  }

  /**
   * @returns true if its node can begin again for another chain without anybody noticing: it cannot have read blocks of this chain from the
   * archive either, which it would remember
   */
  get #reusable(): boolean {
    const { archive, fork } = this.#options
    return !fork && archive.last === undefined && this.#supervisor.reusable
  }

  async #begin(history: History | undefined): Promise<void> {
    const start = history ?? { checkpoint: this.#origin, operations: [] }
    if (!history) await this.#options.journal.replace(start)
    const { archive, clock, setup, fork, protocols } = this.#options
    // Damage in the archive must be known before anything is written.
    await Promise.all([this.#supervisor.start(start, this.#options.node), archive.opened])
    const prepare = async () => {
      // The first checkpoint has a time of its own, and Aave cannot work before its last update: mine a block at the present. A kept
      // chain does not, since it must first finish the transfers that were under way, at the time for which they were signed.
      if (!history) await this.#writer.mine(this.#reader.present)
      else if (!setup.fork && !this.#survey) await placeMulticall3(this.#whole, this.#options.embedded)
      this.#survey ??= await validateMarkets(setup, protocols, this.#reader.read)
    }
    await retryChainOutage(prepare, { clock, ended: () => this.#stopped || fork?.relay.failure !== undefined })
  }

  #protocol(pool: PoolFacts): Protocol {
    const protocol = this.#survey?.protocol(pool) ?? this.#options.protocols.get(pool.protocol)
    if (!protocol) throw new Error(`pool ${pool.pool_id} names an unknown protocol: ${pool.protocol}`)
    return protocol
  }
}

/** Puts the Multicall3 contract onto an embedded chain that was kept by a version without it. */
async function placeMulticall3(
  { rpc, writer }: { rpc: RpcClient; writer: ChainWriter },
  embedded: Checkpoint,
): Promise<void> {
  if ((await rpc.call<Hex>('eth_getCode', MULTICALL3, 'latest')) !== '0x') return
  const accounts = JSON.parse(embedded.accounts) as Record<string, { code?: Hex }>
  const code = accounts[MULTICALL3.toLowerCase()]?.code
  if (code) await writer.cheat([['anvil_setCode', MULTICALL3, code]])
}
