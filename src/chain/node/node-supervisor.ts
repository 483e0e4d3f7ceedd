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

/** Milliseconds between attempts to start another node: first and longest pause. */
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5_000
/** Number of attempts to start the first node if it is killed while it starts. */
const START_ATTEMPTS = 3
/** Milliseconds until a node must be back at its checkpoint; that takes one or two. */
const REWIND_TIMEOUT_MS = 1_000

/** Added to a ReplayError: if the upstream of a fork failed meanwhile, repeating the journal may succeed later. */
const UNLESS_RESET = 'it is tried again, unless POST /_sandbox/reset begins anew'

/**
 * State of a chain's node. While it is `replacing`, the node is unusable and no other one has taken its place: `restart` is under
 * way, unless another method is making a new node.
 */
type State =
  | { is: 'starting'; node: undefined }
  | { is: 'serving'; node: AnvilNode }
  | { is: 'replacing'; node: AnvilNode; restart?: { abort: AbortController; done: Promise<void> } }
  | { is: 'stopped'; node: AnvilNode | undefined }

/** Hears of the end of a node's process. */
interface Watch {
  lost?: (reason: string) => void
}

/** Keeps an Anvil running for a chain: one that dies or hangs is replaced by another one at the end of the journal. */
export class NodeSupervisor {
  readonly #deps: SupervisorDeps
  /** Replacements run one after another. */
  readonly #queue = new SerialQueue()
  #state: State = { is: 'starting', node: undefined }
  /** Nodes that were replaced but still have earlier calls to answer. */
  readonly #leaving = new Set<AnvilNode>()
  /** The watch of the present node. */
  #watch: Watch = {}
  /** What is still read of the node when the supervisor has stopped: the node itself may belong to another chain by then. */
  #left: Pick<AnvilNode, 'states' | 'foreign'> | undefined
  /** True while nodes are suspended, including one that takes the place of a suspended node. */
  #suspended = false

  constructor(deps: SupervisorDeps) {
    this.#deps = deps
    deps.events.on('distrusted', (reason) => this.#discard(reason))
  }

  /** Begins with the node `ready`, which must be at the end of the history, or starts the first one. Throws AnvilStartError and others. */
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

  /** Pauses the node, and any that takes its place, until {@link resume}. */
  suspend(): void {
    this.#suspended = true
    this.#present.process.suspend()
  }

  resume(): void {
    this.#suspended = false
    this.#present.process.resume()
  }

  /** Kills the present node for this reason; another one, made from the journal, takes its place. */
  #discard(reason: string): void {
    const { is, node } = this.#state
    if (!node || is === 'stopped') return
    node.process.kill()
    this.#lost(node, reason)
  }

  /** States that the present node keeps: see {@link AnvilNode.states}. */
  get states(): { after: number; count: number } {
    return (this.#left ?? this.#present).states
  }

  /** Foreign state in the present node. */
  get foreign(): ForeignState {
    return (this.#left ?? this.#present).foreign
  }

  /**
   * Replaces chain and journal by `history`. Reads go on meanwhile; nothing may change the chain. Throws ChainUnavailableError
   * if no other node starts; the present one then stays.
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
   * Replaces the present node by another one with the same `history`, that of the journal. Reads go on meanwhile; nothing may
   * change the chain. Throws if no other node starts or reaches the same block (the upstream of a fork may fail), or if the present
   * one is pinned by then; the present one then stays.
   */
  async renew(history: History): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#state.is !== 'serving') return
      await this.#build(history, async () => {
        if (this.foreign.pinned) throw new Error('the present one is needed')
      })
    })
  }

  /** As {@link replace} with a checkpoint alone, but faster if the present node began with it and was not altered. */
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

  /** @returns true if the node can begin again as one that nobody has used: it owes no answer, and callers from outside left nothing in it */
  get reusable(): boolean {
    const { is, node } = this.#state
    if (is !== 'serving' || this.#suspended || !this.#deps.rpc.idle) return false
    return !node.foreign.pinned && !node.foreign.altered && node.process.exit === undefined
  }

  /** Ends the nodes. With `giveBack`, that gets the present one, which the supervisor forgets. */
  async stop(giveBack?: (node: AnvilNode) => Promise<void>): Promise<void> {
    this.#state = { is: 'stopped', node: this.#state.node }
    await this.#queue.run(async () => {
      const { node } = this.#state
      this.#left = node && { states: node.states, foreign: node.foreign }
      this.#state = { is: 'stopped', node: undefined }
      delete this.#watch.lost // a node that goes on elsewhere must not keep this chain in memory
      await Promise.all([node && (giveBack?.(node) ?? node.stop()), ...[...this.#leaving].map((one) => one.stop())])
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

  /** Replaces the present node by another one. */
  #put(node: AnvilNode): void {
    const { is, node: before } = this.#state
    this.#state = { is: is === 'stopped' ? 'stopped' : 'serving', node } // if stopped meanwhile, stop() ends this node
    if (this.#suspended) node.process.suspend()
    this.#deps.journal.reached(node.tip)
    this.#deps.events.emit('arrived', node.tip)
    const answered = this.#deps.rpc.moveTo(node.process.url)
    const watch: Watch = { lost: (reason) => this.#lost(node, reason) }
    this.#watch = watch
    void node.process.exited.then((reason) => watch.lost?.(reason))
    if (before) void this.#retire(before, answered)
  }

  /** Makes the error to throw if the kept history does not make the same chain again. */
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

  /** Rewinds a node. One that takes too long is killed: it must not go back later, after new blocks were built on it. */
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

  /** Begins to replace a lost node by another one, unless that is under way. */
  #beginRestart(reason: string): void {
    const state = this.#state
    if (state.is !== 'replacing' || state.restart) return
    const abort = new AbortController()
    const done = this.#tryRestart(() => this.#state === state, abort.signal, reason)
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'the restarted chain was lost or stopped'))
      .finally(() => delete state.restart)
    state.restart = { abort, done }
  }

  /** Ends a running restart: the caller is about to replace the history that it would restore. */
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
  /** Options of every node, without the checkpoint. */
  node: Omit<NodeOptions, 'checkpoint'>
  /** The chain's client, which is moved to each new node. */
  rpc: RpcClient
  events: NodeEvents
  journal: ChainJournal
  clock: SandboxClock
  log: Logger
  /** Resolves when no change of the chain is under way: each has been carried out and kept, or has failed. */
  idle(): Promise<void>
}
