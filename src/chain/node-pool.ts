import { availableParallelism } from 'node:os'
import type { SandboxClock } from '../domain/clock.ts'
import { ChainUnavailableError, NoNodeFreeError } from '../domain/ports/chain.ts'
import type { Logger } from '../support/logger.ts'
import { SerialQueue, Slots } from '../support/serial-queue.ts'
import type { ChainCopies, ChainCopy } from './anvil-chain.ts'
import type { AnvilNode } from './node/anvil-node.ts'
import { type NodePlace, SpareNodes } from './spare-nodes.ts'

/** A chain that has a node, or needs one. */
export interface NodeUser {
  readonly chain_id: string
  /** True if its node can be taken away while it is idle. */
  readonly restable: boolean
  /** True if it has a node that is not in use. */
  readonly idle: boolean
  /**
   * Ends its node if nothing would be lost, or no more than `forgetting` allows.
   * @returns true if the node was ended
   */
  rest(forgetting: boolean): Promise<boolean>
}

/** Milliseconds that a chain waits for a node: a little less than the chain's callers wait. */
export const PLACE_TIMEOUT_MS = 29_000
/** Milliseconds that a node waits for its turn to start: a hundred nodes take long on a busy machine. */
const TURN_TIMEOUT_MS = 110_000
/** Number of nodes that start at the same time: more would only slow each other down. */
const STARTING = 2 * availableParallelism()

/**
 * Limits the number of nodes of all chains of a sandbox. If there are as many as allowed, a chain that needs one gets the place of the
 * least recently used chain, which then rests. Keeps spares for chains that begin with a copy.
 */
export class NodePool {
  readonly #options: Required<PoolOptions>
  /** Chains that can be put to rest, the least recently used first. */
  readonly #users = new Set<NodeUser>()
  /** Chains get their places one after another, in order of arrival. */
  readonly #queue = new SerialQueue()
  readonly #spares: SpareNodes
  readonly #starting = new Slots(STARTING)
  #nodes = 0
  /** Makes the chain that waits for a place try again. */
  #lookAgain: () => void = () => {}

  constructor(options: PoolOptions) {
    this.#options = { placeTimeout: PLACE_TIMEOUT_MS, ...options }
    this.#spares = new SpareNodes({
      ...options,
      place: () => (this.#full ? undefined : this.#placeOf(undefined)),
      available: () => this.#lookAgain(),
    })
  }

  /** Number of nodes that exist or are about to. */
  get nodes(): number {
    return this.#nodes
  }

  /** Keeps spare nodes at the end of these copies. Call when chains are likely to begin with them. */
  prepare(copies: ChainCopies): void {
    this.#spares.prepare(copies)
  }

  /**
   * Gives a chain a place for a node, and a spare node if there is one at the end of the copy, which the caller must end. Throws
   * NoNodeFreeError if all places stay in use for {@link PoolOptions.placeTimeout}.
   */
  async enter(user: NodeUser, copy: ChainCopy | undefined): Promise<{ place: NodePlace; node?: AnvilNode }> {
    const spare = copy && (await this.#spares.take(copy))
    if (spare) return { place: this.#placeOf(user, spare.place), node: spare.node }
    if (!user.restable) return { place: this.#placeOf(user) }
    const late = this.#options.clock.wallSleep(this.#options.placeTimeout).then(() => 'late' as const)
    return this.#queue.run(async () => {
      while (this.#full) {
        const changed = new Promise<void>((resolve) => {
          this.#lookAgain = resolve
        })
        if (await this.#makeRoom()) continue
        if ((await Promise.race([changed, late])) === 'late') throw this.#tooMany(user)
      }
      return { place: this.#placeOf(user) }
    })
  }

  /** Runs a task that starts a node, in its turn. Throws ChainUnavailableError if its turn does not come, and errors of the task. */
  async start<Result>(user: NodeUser, task: () => Promise<Result>): Promise<Result> {
    if (!user.restable) return task()
    const release = await this.#starting.take(this.#options.clock.wallSleep(TURN_TIMEOUT_MS))
    if (!release) throw new ChainUnavailableError(user.chain_id, 'others are being started, and its turn has not come')
    try {
      return await task()
    } finally {
      release()
    }
  }

  /** Call when a use of a chain has ended. */
  used(user: NodeUser): void {
    if (this.#users.delete(user)) this.#users.add(user)
    this.#lookAgain()
  }

  /** Takes the node of a chain that has ended, which can begin again: it becomes a spare, or is ended. */
  giveBack(node: AnvilNode): Promise<void> {
    return this.#spares.giveBack(node)
  }

  /** From now on makes no spares, and takes no nodes back. Call before the chains are stopped. */
  beginStop(): void {
    this.#spares.beginStop()
  }

  /** Ends the spares and does not make more. */
  stop(): Promise<void> {
    return this.#spares.stop()
  }

  get #full(): boolean {
    return this.#nodes >= this.#options.maxNodes
  }

  /** Makes a place, or hands the place of a spare (`before`) over. */
  #placeOf(user: NodeUser | undefined, before?: NodePlace): NodePlace {
    if (!before) this.#nodes++
    if (user?.restable) this.#users.add(user)
    let left = false
    return {
      leave: () => {
        if (left) return
        left = true
        if (user) this.#users.delete(user)
        this.#nodes--
        this.#lookAgain()
      },
    }
  }

  /**
   * Ends a spare, or the node of the least recently used chain.
   * @returns true if there is one node less
   */
  async #makeRoom(): Promise<boolean> {
    if (await this.#spares.endOne()) return true
    for (const user of [...this.#users]) if (user.idle && (await user.rest(false))) return true
    return false
  }

  #tooMany({ chain_id }: NodeUser): NoNodeFreeError {
    const { maxNodes } = this.#options
    const reason = `${maxNodes} Anvils are at work, as many as may be at once, and none of them is idle: see --max-nodes`
    return new NoNodeFreeError(chain_id, reason)
  }
}

export interface PoolOptions {
  clock: SandboxClock
  log: Logger
  /** Limit on the number of nodes, including spares. */
  maxNodes: number
  /** Milliseconds that a chain waits for a node; default 29 s. */
  placeTimeout?: number
}
