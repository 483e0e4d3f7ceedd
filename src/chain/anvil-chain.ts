import { numberToHex } from 'viem/utils'
import type { ChainSetup, ForkSetup } from '../domain/chain-setup.ts'
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
import type { Logger } from '../domain/ports/logger.ts'
import type { Address, Hex, Pool } from '../domain/records.ts'
import { type AnvilOptions, AnvilProcess } from './anvil-process.ts'
import { BlockArchive } from './block-archive.ts'
import { BlockProducer } from './block-producer.ts'
import { AnvilControls } from './chain-controls.ts'
import { ChainState } from './chain-state.ts'
import { ChainWriter } from './chain-writer.ts'
import { type Fork, openFork, unusable } from './fork.ts'
import type { ForkRelay } from './fork-relay.ts'
import { MarketCache } from './market-cache.ts'
import { type MarketSurvey, surveyMarkets } from './market-survey.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { Protocol } from './protocols/protocol.ts'
import { type Call, Rpc } from './rpc.ts'
import { RpcGateway } from './rpc-gateway.ts'
import type { Wallets } from './wallets.ts'

/** The greatest allowance a wallet can give. */
const UNLIMITED = numberToHex(2n ** 256n - 1n)

/**
 * What keeps block hashes (EIP-2935) and beacon roots (EIP-4788). Every block would write a slot of its own there, which a
 * fork must first fetch: a round trip to the upstream per block, and no block while it is down. Nothing here asks them.
 */
const SYSTEM_CONTRACTS = ['0x0000F90827F1C53a10cb7A02335B175320002935', '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02']

/** Milliseconds for a call to a fork: the first of its kind fetches dozens of slots, one after another. */
const FORK_TIMEOUT = 60_000

/** Whether a chain can be worked with, and if not, why. */
export interface ChainStatus {
  ok: boolean
  reason?: string
}

/** What an {@link AnvilChain} is made from. */
export interface AnvilChainOptions {
  setup: ChainSetup
  anvil: Pick<AnvilOptions, 'stateFile' | 'host'>
  wallets: Wallets
  protocols: ReadonlyMap<string, Protocol>
  clock: SandboxClock
  log: Logger
  /** Milliseconds without an answer before a call is given up. */
  rpcTimeout?: number
}

/** A chain on an Anvil process of its own. */
export class AnvilChain implements Chain {
  /**
   * Starts Anvil, on the embedded state or as a fork, brings its time up to the clock and looks at the markets. Throws
   * `ChainSetupError`, `AnvilStartError` or `AnvilBinaryMissingError`.
   */
  static async start(options: AnvilChainOptions): Promise<AnvilChain> {
    const { setup, clock, log } = options
    const fork = isFork(setup) ? await openFork(setup, { clock, log }) : undefined
    let chain: AnvilChain | undefined
    try {
      const process = await AnvilProcess.start(anvilOptions(options, fork))
      chain = new AnvilChain(process, options, await BlockArchive.open(), fork?.relay)
      await chain.#begin()
      return chain
    } catch (error) {
      await chain?.stop()
      fork?.relay.close()
      throw setup.fork && fork?.relay.failure ? unusable(setup.fork, fork.relay.failure, error) : error
    }
  }

  readonly chain_id: string
  /** Resolves when Anvil is gone, with why. */
  readonly exited: Promise<string>
  readonly #process: AnvilProcess
  readonly #options: AnvilChainOptions
  readonly #upstream: ForkRelay | undefined
  readonly #rpc: Rpc
  readonly #state: ChainState
  readonly #writer: ChainWriter
  readonly #producer: BlockProducer
  readonly #controls: AnvilControls
  readonly #archive: BlockArchive
  readonly #gateway: RpcGateway
  readonly #markets: MarketCache
  readonly #unsubscribe: () => void
  #base: Hex = '0x'
  #resetting = false
  #survey: MarketSurvey | undefined

  private constructor(
    process: AnvilProcess,
    options: AnvilChainOptions,
    archive: BlockArchive,
    upstream: ForkRelay | undefined,
  ) {
    const { setup, clock, log, rpcTimeout } = options
    this.chain_id = setup.chain_id
    this.exited = process.exited
    this.#process = process
    this.#options = options
    const patience = rpcTimeout ?? (upstream && FORK_TIMEOUT)
    const timeout = patience === undefined ? {} : { timeout: patience }
    this.#upstream = upstream
    this.#rpc = new Rpc({ chainId: setup.chain_id, url: process.url, ...timeout, ...(upstream && { upstream }) })
    this.#state = new ChainState(this.#rpc, clock)
    this.#writer = new ChainWriter(this.#rpc, this.#state)
    const parts = { chainId: setup.chain_id, rpc: this.#rpc, state: this.#state, writer: this.#writer }
    this.#producer = new BlockProducer({ ...parts, clock, log })
    const admin = (pool: Pool) => this.#protocol(pool).admin
    this.#controls = new AnvilControls({ ...parts, producer: this.#producer, anvil: process, admin })
    this.#archive = archive
    this.#gateway = new RpcGateway({ ...parts, archive, producer: this.#producer })
    this.#markets = new MarketCache(this.#state, clock)
    this.#unsubscribe = clock.onMove(() => this.#follow())
    void process.exited.then((reason) => this.#producer.stop(reason))
  }

  get gone(): boolean {
    return this.#process.exit !== undefined
  }

  get pid(): number {
    return this.#process.pid
  }

  get status(): ChainStatus {
    const reason = this.#process.exit ?? this.#producer.obstacle ?? this.#rpc.failure
    return reason === undefined ? { ok: true } : { ok: false, reason }
  }

  async relay(body: unknown): Promise<string | undefined> {
    // The archive would go on answering.
    if (this.#controls.paused) throw new ChainUnavailableError(this.chain_id, 'paused by a fault')
    return this.#gateway.answer(body)
  }

  outcome(hash: Hex): 'success' | 'reverted' | undefined {
    return this.#archive.outcome(hash)
  }

  market(pool: Pool): Promise<MarketFigures> {
    return this.#markets.get(pool, async () => {
      const oracle = this.#survey?.priceOracle ?? this.#options.setup.price_oracle
      if (!oracle) throw new Error(`chain ${this.chain_id} has no price oracle`)
      return this.#protocol(pool).market(this.#state.read, pool, oracle)
    })
  }

  async values(positions: readonly Position[]): Promise<bigint[]> {
    if (positions.length === 0) return []
    const valuations = positions.map(({ pool, shares }) => this.#protocol(pool).valuation(pool, shares))
    const answers = await this.#state.read(valuations.map(({ read }) => read))
    return valuations.map(({ worth }, index) => worth(answers[index] ?? 0n))
  }

  async shares(owner: WalletOwner, pool: Pool): Promise<bigint> {
    return this.#protocol(pool).shares(this.#state.read, pool, this.#options.wallets.of(owner).address)
  }

  async walletBalance(owner: WalletOwner, token: Address): Promise<bigint> {
    const [balance] = await this.#state.read([balanceOf(token, this.#options.wallets.of(owner).address)])
    return balance
  }

  async fundWallet(owner: WalletOwner, funding: readonly WalletFunding[]): Promise<void> {
    const { address } = this.#options.wallets.of(owner)
    const calls = funding.flatMap(({ token_address, amount, spenders }): Call[] => [
      ['anvil_dealERC20', address, token_address, numberToHex(amount)],
      ...spenders.map((spender): Call => ['anvil_setERC20Allowance', ...[address, spender, token_address, UNLIMITED]]),
    ])
    if (calls.length > 0) await this.#producer.cheat(calls)
  }

  transfer(order: TransferOrder): Promise<MinedTransfer> {
    const protocol = this.#protocol(order.position.pool)
    return this.#producer.transfer({ order, protocol, wallet: this.#options.wallets.of(order.owner) })
  }

  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer> {
    return this.#producer.finish({ ...transfer, protocol: this.#protocol(transfer.pool) })
  }

  reorg(): Promise<void> {
    return this.#controls.reorg()
  }

  /** Does nothing during a reset, which a pause would cut in two. */
  pause(): void {
    if (!this.#resetting) this.#controls.pause()
  }

  resume(): void {
    if (!this.#controls.paused) return
    this.#controls.resume()
    this.#follow() // the clock may have moved meanwhile
  }

  setPoolPaused(pool: Pool, paused: boolean): Promise<void> {
    return this.#controls.setPoolPaused(pool, paused)
  }

  setApy(pool: Pool, apy: number | undefined): Promise<void> {
    return this.#controls.setApy(pool, apy)
  }

  /**
   * Back to the state it started with, at the clock's present, whatever controls did to it; transfers under way are
   * rejected. Tens of milliseconds.
   */
  async reset(): Promise<void> {
    this.#resetting = true
    this.#controls.resume()
    try {
      await this.#producer.interrupt('it was reset', async () => {
        await this.#writer.restore(this.#base)
        await this.#settleIn()
      })
    } finally {
      this.#resetting = false
    }
  }

  /** Ends Anvil; transfers under way are rejected. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#controls.resume()
    this.#producer.stop('it was stopped')
    await this.#process.stop()
    this.#rpc.close()
    this.#upstream?.close()
  }

  async #begin(): Promise<void> {
    await this.#state.refresh()
    if (this.#upstream) await this.#writer.cheat(SYSTEM_CONTRACTS.map((address) => ['anvil_setCode', address, '0x']))
    await this.#settleIn()
    // Were the port another Anvil's, ours would have said so and gone by now.
    if (this.#process.exit !== undefined) throw new Error(this.#process.exit)
    this.#survey = await surveyMarkets(this.#options.setup, this.#options.protocols, this.#state.read)
  }

  /** A loaded or reverted state has a time of its own: Aave refuses to work in its own past. */
  async #settleIn(): Promise<void> {
    await this.#writer.mine(this.#state.present)
    this.#base = await this.#writer.checkpoint()
    // The last block may be replaced; the checkpoint's may not.
    await this.#writer.mine(this.#state.present)
  }

  /** The clock was moved. */
  #follow(): void {
    this.#state.changed()
    if (this.#state.present === this.#state.latest) return
    this.#producer
      .mine()
      .catch((error: Error) => this.#options.log.warn({ error: error.message }, 'no block at the new time'))
  }

  #protocol(pool: Pool): Protocol {
    const protocol = this.#survey?.protocol(pool) ?? this.#options.protocols.get(pool.protocol)
    if (!protocol) throw new Error(`pool ${pool.pool_id} names an unknown protocol: ${pool.protocol}`)
    return protocol
  }
}

function isFork(setup: ChainSetup): setup is ChainSetup & { fork: ForkSetup } {
  return setup.fork !== undefined
}

function anvilOptions({ setup, anvil, clock, log }: AnvilChainOptions, fork: Fork | undefined): AnvilOptions {
  const { stateFile, ...others } = anvil
  const state = fork ? { flags: fork.flags } : stateFile && { stateFile }
  return { ...others, ...state, chainId: setup.chain_id, clock, log }
}
