import type { PoolFacts } from '../domain/chain-setup.ts'
import type {
  Chain,
  MarketFigures,
  MinedTransfer,
  Position,
  TransferOrder,
  UnfinishedTransfer,
  WalletFunding,
  WalletOwner,
} from '../domain/ports/chain.ts'
import type { Address, Hex, Pool } from '../domain/records.ts'
import { AnvilChain, type AnvilChainOptions, type ChainCopy, type ChainStatus } from './anvil-chain.ts'
import { ChainLifecycle } from './chain-lifecycle.ts'
import { atKeptBlock, type Fork, isFork, openFork } from './fork/fork.ts'
import type { History } from './history/chain-journal.ts'
import { type Checkpoint, isSameCheckpoint } from './history/checkpoint.ts'
import type { RpcCall } from './json-rpc/rpc-client.ts'
import type { MarketValidation } from './markets/validate-markets.ts'
import type { AnvilNode } from './node/anvil-node.ts'
import type { NodePool, NodeUser } from './node-pool.ts'
import type { NodePlace } from './spare-nodes.ts'
import type { Wallets } from './wallets/wallet.ts'

/** Dependencies of an {@link OnDemandChain}. */
export interface OnDemandOptions extends Omit<AnvilChainOptions, 'fork' | 'node' | 'giveBack'> {
  wallets: Wallets
  /** The copy with which it begins; its journal has the same content. */
  begin?: ChainCopy | undefined
  /** Source of its node; undefined: it starts nodes without limit. */
  pool?: Pick<NodePool, 'enter' | 'start' | 'used' | 'giveBack'> | undefined
  /** Milliseconds without use after which it rests; undefined: never. */
  idleMs?: number | undefined
}

/** Milliseconds that callers wait until a fork is awake. */
const FORK_WAKE_TIMEOUT_MS = 60_000

/**
 * A chain that has an Anvil only while it is needed; journal and archive keep its state. A rest in between cannot be noticed: it
 * makes the same blocks.
 */
export class OnDemandChain implements Chain, NodeUser {
  readonly chain_id: string
  readonly #options: OnDemandOptions
  readonly #lifecycle: ChainLifecycle
  readonly #unsubscribe: () => void
  /** The fork, opened when the chain is first woken, and kept. */
  #fork: Fork | undefined
  #survey: MarketValidation | undefined
  /** The copy with which it begins, until it is first woken or reset. */
  #begin: ChainCopy | undefined
  /** Place of its node in the pool. */
  #place: NodePlace | undefined
  /** True if its time is to be brought up to the clock when it is woken. */
  #behind = false

  constructor(options: OnDemandOptions) {
    const { setup, clock, log, idleMs, archive } = options
    this.chain_id = setup.chain_id
    this.#options = options
    this.#begin = options.begin
    this.#survey = options.survey ?? options.begin?.survey
    this.#lifecycle = new ChainLifecycle({
      chainId: setup.chain_id,
      clock,
      log,
      idleMs,
      wakeTimeout: options.rpcTimeout ?? (isFork(setup) ? FORK_WAKE_TIMEOUT_MS : undefined),
      start: () => this.#start(),
      begun: () => this.#begun(),
      unused: () => options.pool?.used(this),
      rests: () => {
        archive.rest()
        this.#place?.leave()
        this.#place = undefined
      },
    })
    this.#unsubscribe = clock.onMove(() => void this.#clockMoved())
  }

  /** Process id of its Anvil. Throws if it has none at present. */
  get pid(): number {
    const { awake } = this.#lifecycle
    if (!awake) throw new Error(`chain ${this.chain_id} has no Anvil at present`)
    return awake.pid
  }

  /** @returns true if it has an Anvil at present */
  get awake(): boolean {
    return this.#lifecycle.awake !== undefined
  }

  get restable(): boolean {
    return this.#options.idleMs !== undefined
  }

  get idle(): boolean {
    return this.#lifecycle.idle
  }

  /** Health of the chain; a resting chain counts as healthy. */
  get status(): ChainStatus {
    const { awake, obstacle } = this.#lifecycle
    if (awake) return awake.status
    return obstacle === undefined ? { ok: true } : { ok: false, reason: obstacle }
  }

  watch(watcher: (number: number) => void): () => void {
    const { watchers } = this.#options.archive
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }

  /** Resolves when its archive has been read. Throws if that cannot be read. */
  opened(): Promise<void> {
    return this.#options.archive.opened
  }

  /** Wakes the chain if it rests. Throws `ChainSetupError`, `AnvilStartError` or `AnvilBinaryMissingError`. */
  async wake(): Promise<void> {
    await this.#lifecycle.wake()
  }

  /**
   * Ends its Anvil if it is not in use and nothing would be lost. With `forgetting`, foreign state that is in the node alone may be
   * lost.
   * @returns true if it rests now
   */
  rest(forgetting: boolean): Promise<boolean> {
    return this.#lifecycle.rest(forgetting)
  }

  /**
   * Runs a task with a copy of the chain, which does not change until the task is done. With `condensed`, its history is a checkpoint
   * alone. Throws ChainUnavailableError.
   */
  still<Result>(task: (copy: ChainCopy) => Promise<Result>, condensed: boolean): Promise<Result> {
    return this.#lifecycle.still(async () => {
      const { journal, archive, embedded } = this.#options
      const history = await journal.read()
      if (!history) throw new Error(`chain ${this.chain_id} has no history`)
      return task({ history: sharing(history, embedded), archived: archive.segments, survey: this.#survey })
    }, condensed)
  }

  relay(body: unknown): Promise<string | undefined> {
    return this.#lifecycle.use((chain) => chain.relay(body))
  }

  ask(calls: readonly RpcCall[]): Promise<unknown[]> {
    return this.#lifecycle.use((chain) => chain.ask(calls))
  }

  get span(): Chain['span'] {
    const { journal, archive } = this.#options
    if (journal.latest === undefined) return undefined
    const { number, timestamp } = journal.tip
    return { first: archive.first ?? journal.base.number + 1, last: number, timestamp }
  }

  outcome(hash: Hex): 'success' | 'reverted' | undefined {
    return this.#options.archive.outcome(hash)
  }

  market(pool: Pool): Promise<MarketFigures> {
    return this.#lifecycle.use((chain) => chain.reads.market(pool))
  }

  get marketMoment(): object | undefined {
    return this.restable ? undefined : this.#lifecycle.awake?.reads.moment
  }

  liquidity(pool: Pool): Promise<bigint | null> {
    return this.#lifecycle.use((chain) => chain.reads.liquidity(pool))
  }

  values(positions: readonly Position[]): Promise<bigint[]> {
    return this.#lifecycle.use((chain) => chain.reads.values(positions))
  }

  shares(owner: WalletOwner, pool: Pool): Promise<bigint> {
    return this.#lifecycle.use((chain) => chain.reads.shares(this.#options.wallets.of(owner).address, pool))
  }

  walletBalance(owner: WalletOwner, token: Address): Promise<bigint> {
    return this.#lifecycle.use((chain) => chain.reads.balance(this.#options.wallets.of(owner).address, token))
  }

  fundWallet(owner: WalletOwner, funding: readonly WalletFunding[]): Promise<void> {
    return this.#lifecycle.use((chain) => chain.fundWallet(this.#options.wallets.of(owner), funding))
  }

  transfer(order: TransferOrder): Promise<MinedTransfer> {
    return this.#lifecycle.use((chain) => chain.transfer(order, this.#options.wallets.of(order.owner)))
  }

  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer> {
    return this.#lifecycle.use((chain) => chain.finish(transfer))
  }

  reorg(): Promise<void> {
    return this.#lifecycle.use((chain) => chain.controls.reorg())
  }

  pause(): void {
    this.#lifecycle.pause()
  }

  resume(): void {
    const { awake } = this.#lifecycle
    if (this.#lifecycle.resume() && !awake) void this.#clockMoved() // the clock may have moved meanwhile
  }

  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void> {
    return this.#lifecycle.use((chain) => chain.controls.setPoolPaused(pool, paused))
  }

  setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void> {
    return this.#lifecycle.use((chain) => chain.controls.setPoolLiquid(pool, liquid))
  }

  setApy(pool: PoolFacts, apy: number | undefined): Promise<void> {
    return this.#lifecycle.use((chain) => chain.controls.setApy(pool, apy))
  }

  /** Brings chain time up to the clock if it lags. Throws ChainUnavailableError. */
  async catchUp(): Promise<void> {
    if (this.awake || this.#lags) await this.#lifecycle.use((chain) => chain.catchUp())
  }

  /** As {@link catchUp}; a chain at rest is left so, and catches up when it is woken. Throws ChainUnavailableError. */
  async goOn(): Promise<void> {
    if (this.awake) await this.catchUp()
    else this.#behind = true
  }

  /** Takes it back to its first state, at the clock's present. Throws ChainUnavailableError, and errors of {@link wake}. */
  reset(): Promise<void> {
    return this.#lifecycle.reset(async () => {
      const { journal, archive, embedded, setup } = this.#options
      const checkpoint = isFork(setup) ? (await this.#openFork(setup)).origin : embedded
      this.#begin = undefined
      await archive.clear()
      await journal.replace({ checkpoint, operations: [] })
    })
  }

  /** Ends its Anvil and rejects running transfers. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    await this.#lifecycle.stop()
    this.#place?.leave()
    this.#fork?.relay.close()
    await this.#options.journal.close()
  }

  /** @returns true if its last known block is older than the clock */
  get #lags(): boolean {
    const { clock, journal } = this.#options
    return Math.floor(clock.now() / 1000) > (journal.latest ?? 0)
  }

  async #start(): Promise<AnvilChain> {
    const { setup, pool } = this.#options
    const fork = isFork(setup) ? await this.#openFork(setup) : undefined
    const { place, node } = (await pool?.enter(this, this.#begin)) ?? {}
    try {
      const giveBack = pool && ((used: AnvilNode) => pool.giveBack(used))
      const start = () => AnvilChain.start({ ...this.#options, fork, survey: this.#survey, node, giveBack })
      const chain = await (pool && !node ? pool.start(this, start) : start())
      this.#place = place
      this.#begin = undefined
      this.#survey = chain.survey
      if (this.#behind) await chain.follow()
      this.#behind = false
      return chain
    } catch (error) {
      await node?.stop()
      place?.leave()
      throw error
    }
  }

  async #openFork(setup: Parameters<typeof openFork>[0]): Promise<Fork> {
    const history = this.#fork ? undefined : await this.#options.journal.read()
    this.#fork ??= await openFork(atKeptBlock(setup, history?.checkpoint.forked), this.#options)
    return this.#fork
  }

  /** Mines a block of the new time. A resting chain is woken for it, so that it has the same blocks as if it had not rested. */
  async #clockMoved(): Promise<void> {
    const { clock, log } = this.#options
    // A reset moves the clock first: a resting chain that is about to be reset does not need a block.
    if (!this.awake) await clock.wallSleep(0)
    const needed = this.awake || (!this.#lifecycle.resetting && this.#lags && (await this.#begun()))
    if (!needed) return
    await this.#lifecycle
      .use((chain) => chain.follow())
      .catch((error: Error) => log.warn({ error: error.message }, 'no block at the new time'))
  }

  async #begun(): Promise<boolean> {
    const { journal } = this.#options
    return journal.latest !== undefined || (await journal.read()) !== undefined
  }
}

/** Replaces an equal checkpoint by the shared one of all embedded chains, to save the memory of a second copy. */
function sharing(history: History, embedded: Checkpoint): History {
  return isSameCheckpoint(history.checkpoint, embedded) ? { ...history, checkpoint: embedded } : history
}
