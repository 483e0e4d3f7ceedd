import type { SandboxClock } from '../../domain/clock.ts'
import { ChainSetupError, ChainUnavailableError } from '../../domain/ports/chain.ts'
import type { Logger } from '../../support/logger.ts'
import { SerialQueue } from '../../support/serial-queue.ts'
import { atTip, type ChainJournal, type History } from '../history/chain-journal.ts'
import { type Checkpoint, isSameCheckpoint } from '../history/checkpoint.ts'
import type { Block } from '../json-rpc/block.ts'
import type { NodeEvents } from '../json-rpc/node-events.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'
import { AnvilNode, type ForeignState, type NodeOptions, ReplayError } from './anvil-node.ts'
import { AnvilStartError } from './anvil-process.ts'
import { watchForHang } from './hang-watch.ts'

/** Milliseconds between attempts to start another one: at first, and at most. */
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5_000
/** Nodes that may be lost, one after another, while the first one starts. */
const START_ATTEMPTS = 3
/** Milliseconds a node has for the way back to its checkpoint, which takes one or two. */
const REWIND_TIMEOUT_MS = 1_000

/** Where the upstream of a fork failed meanwhile, doing the journal again may well succeed later. */
const UNLESS_RESET = 'it is tried again, unless POST /_sandbox/reset begins anew'

/**
 * Which node a chain has. While it is `replacing`, that node is of no use any more, and no other has taken its place: one is being
 * restarted, unless somebody else sees to that.
 */
type State =
  | { is: 'starting'; node: undefined }
  | { is: 'serving'; node: AnvilNode }
  | { is: 'replacing'; node: AnvilNode; restart?: { abort: AbortController; done: Promise<void> } }
  | { is: 'stopped'; node: AnvilNode | undefined }

/** Keeps an Anvil running for a chain: one that dies or hangs is replaced by another, brought to where the journal ends. */
export class NodeSupervisor {
  readonly #deps: SupervisorDeps
  /** Nodes are replaced one after another. */
  readonly #queue = new SerialQueue()
  #state: State = { is: 'starting', node: undefined }
  /** Nodes that were replaced, and still have to answer what they were asked before. */
  readonly #leaving = new Set<AnvilNode>()
  /** In whatever state: a node that takes the place of a suspended one is suspended as well. */
  #suspended = false

  constructor(deps: SupervisorDeps) {
    this.#deps = deps
    deps.events.on('distrusted', (reason) => this.#discard(reason))
  }

  /** Begins with a node that stands at the end of the history, or starts the first one. Throws AnvilStartError and others. */
  async start(history: History, ready?: AnvilNode): Promise<void> {
    await this.#queue.run(() => this.#begin(history, ready))
    const { node, ...parts } = this.#deps
    void watchForHang({
      ...parts,
      chainId: node.chainId,
      slow: node.fetches?.real !== undefined,
      stopped: () => this.#state.is === 'stopped',
      node: () => this.#state.node,
    })
  }

  get pid(): number {
    return this.#present.process.pid
  }

  /** Stops the node in its tracks, and whatever node takes its place, until {@link resume}. */
  suspend(): void {
    this.#suspended = true
    this.#present.process.suspend()
  }

  resume(): void {
    this.#suspended = false
    this.#present.process.resume()
  }

  /** Ends the present node, for this reason: another one takes its place, with what the journal holds. */
  #discard(reason: string): void {
    const { is, node } = this.#state
    if (!node || is === 'stopped') return
    node.process.kill()
    this.#lost(node, reason)
  }

  /** How many states the present node keeps, at most, of blocks after which one. */
  get states(): { after: number; count: number } {
    return this.#present.states
  }

  /** What others have in the present node. */
  get foreign(): ForeignState {
    return this.#present.foreign
  }

  /**
   * Makes history what the chain is, and what is kept of it. Reads go on meanwhile; nothing may change the chain. Throws
   * ChainUnavailableError when no other node starts: the present one stays.
   */
  async replace(history: History): Promise<void> {
    await this.#abandonRestart()
    try {
      await this.#queue.run(() => this.#build(history, (node) => this.#deps.journal.replace(atTip(history, node.tip))))
    } catch (error) {
      if (!(error instanceof AnvilStartError) && !(error instanceof ReplayError)) throw error
      throw new ChainUnavailableError(this.#deps.node.chainId, error.message, { cause: error })
    } finally {
      this.#beginRestart('the chain was lost; it is being restarted')
    }
  }

  /**
   * Puts another node in the place of the present one; history is what the journal holds. Reads go on meanwhile; nothing may
   * change the chain. Throws when no other node starts or comes to the same block (the upstream of a fork may fail), or when
   * the present one is pinned by then: it stays.
   */
  async renew(history: History): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#state.is !== 'serving') return
      await this.#build(history, async () => {
        if (this.foreign.pinned) throw new Error('the present one is needed')
      })
    })
  }

  /** As {@link replace} with nothing but a checkpoint, faster if the present node began with it and nobody altered it. */
  async rewind(checkpoint: Checkpoint): Promise<void> {
    await this.#abandonRestart()
    const history = { checkpoint, operations: [] }
    const { is, node } = this.#state
    if (is === 'serving' && isSameCheckpoint(node.checkpoint, checkpoint) && !node.foreign.altered) {
      try {
        const tip = await this.#goBack(node)
        await this.#deps.journal.replace(history)
        this.#deps.events.emit('arrived', tip)
        return
      } catch (error) {
        this.#deps.log.debug({ err: error }, 'no way back to the checkpoint: the chain is built anew')
      }
    }
    await this.replace(history)
  }

  async stop(): Promise<void> {
    this.#state = { is: 'stopped', node: this.#state.node }
    await this.#queue.run(async () => {
      await Promise.all([this.#state.node, ...this.#leaving].map((node) => node?.stop()))
    })
  }

  async #begin(history: History, ready: AnvilNode | undefined): Promise<void> {
    if (!ready) return this.#buildFirst(history)
    ready.requireAt(history)
    ready.adopt(this.#deps.node)
    this.#put(ready)
  }

  async #buildFirst(history: History): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#build(history)
      } catch (error) {
        if (error instanceof ReplayError) throw this.#lostHistory(error)
        if (attempt === START_ATTEMPTS || !(error instanceof AnvilStartError && error.killed)) throw error
        this.#deps.log.warn({ err: error }, 'the chain was lost while it started; it is started again')
      }
    }
  }

  get #present(): AnvilNode {
    const { node } = this.#state
    if (!node) throw new Error('the chain has not started')
    return node
  }

  async #build(history: History, ready?: (node: AnvilNode) => Promise<void>): Promise<void> {
    const node = await AnvilNode.start(this.#deps.node, history)
    try {
      await ready?.(node)
    } catch (error) {
      await node.stop()
      throw error
    }
    this.#put(node)
  }

  /** Puts a node in the place of the present one. */
  #put(node: AnvilNode): void {
    const { is, node: before } = this.#state
    this.#state = { is: is === 'stopped' ? 'stopped' : 'serving', node } // stopped meanwhile, it is ended as soon as it is there
    if (this.#suspended) node.process.suspend()
    this.#deps.journal.reached(node.tip)
    this.#deps.events.emit('arrived', node.tip)
    const answered = this.#deps.rpc.moveTo(node.process.url)
    void node.process.exited.then((reason) => this.#lost(node, reason))
    if (before) void this.#retire(before, answered)
  }

  /** What was kept of the chain does not make it again. */
  #lostHistory(error: ReplayError): ChainSetupError {
    const fix = 'restore a backup of the data directory, or start with another one'
    return new ChainSetupError(`chain ${this.#deps.node.chainId}`, error.message, fix, error)
  }

  async #retire(node: AnvilNode, answered: Promise<void>): Promise<void> {
    this.#leaving.add(node)
    await answered
    await node.stop().catch((error: unknown) => this.#deps.log.debug({ err: error }, 'an Anvil did not end in order'))
    this.#leaving.delete(node)
  }

  /** A node that takes too long is lost: it must not go back later, under whoever builds on it. */
  async #goBack(node: AnvilNode): Promise<Block> {
    let over = false
    void this.#deps.clock.wallSleep(REWIND_TIMEOUT_MS).then(() => {
      if (over || this.#state.node !== node || this.#state.is !== 'serving') return
      this.#state = { is: 'replacing', node }
      node.process.kill()
    })
    try {
      return await node.rewind()
    } finally {
      over = true
    }
  }

  #lost(node: AnvilNode, reason: string): void {
    const { is } = this.#state
    if (is === 'stopped' || node !== this.#state.node) return
    if (is === 'replacing') {
      const why = { chain_id: this.#deps.node.chainId, reason }
      if (!reason.includes('SIGKILL')) this.#deps.log.warn(why, 'the chain had ended by itself')
      return
    }
    this.#state = { is: 'replacing', node }
    this.#deps.log.error({ chain_id: this.#deps.node.chainId, reason }, 'the chain ended; it is being restarted')
    this.#beginRestart(`${reason}; it is being restarted`)
  }

  /** Has another node take the place of one that was lost, unless that is under way. */
  #beginRestart(reason: string): void {
    const state = this.#state
    if (state.is !== 'replacing' || state.restart) return
    const abort = new AbortController()
    const done = this.#tryRestart(() => this.#state === state, abort.signal, reason)
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'the restarted chain was lost or stopped'))
      .finally(() => delete state.restart)
    state.restart = { abort, done }
  }

  /** Whoever has another history in mind has no use for the journal's. */
  async #abandonRestart(): Promise<void> {
    const restart = this.#state.is === 'replacing' ? this.#state.restart : undefined
    restart?.abort.abort()
    await restart?.done
  }

  async #tryRestart(lost: () => boolean, signal: AbortSignal, reason: string): Promise<void> {
    const { rpc, journal, clock, log, node } = this.#deps
    let release = rpc.hold(reason)
    const needed = () => lost() && !signal.aborted
    for (let pause = FIRST_PAUSE_MS; needed(); pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        await this.#deps.idle()
        await this.#queue.run(async () => {
          const history = await journal.read()
          if (history && needed()) await this.#build(history)
        })
      } catch (error) {
        log.error({ chain_id: node.chainId, err: error }, 'the chain could not be restarted yet')
        release()
        release = rpc.hold(error instanceof ReplayError ? `${error.message}; ${UNLESS_RESET}` : reason)
        await clock.wallSleep(pause, signal)
      }
    }
    release()
    if (this.#state.is !== 'serving') return
    log.info({ chain_id: node.chainId }, 'the chain is back where it was')
    this.#deps.events.emit('answers')
  }
}

export interface SupervisorDeps {
  /** For every node but its checkpoint. */
  node: Omit<NodeOptions, 'checkpoint'>
  /** The chain's client: it is moved to whatever node is the present one. */
  rpc: RpcClient
  events: NodeEvents
  journal: ChainJournal
  clock: SandboxClock
  log: Logger
  /** Resolves when no change of the chain is under way: each is done and kept, or has failed. */
  idle(): Promise<void>
}
