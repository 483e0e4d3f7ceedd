import type { SandboxClock } from '../domain/clock.ts'
import { NoNodeFreeError } from '../domain/ports/chain.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import type { ChainCopy } from './anvil-chain.ts'
import type { AnvilNode } from './node/anvil-node.ts'
import { type NodePool, type NodeUser, PLACE_TIMEOUT_MS } from './node-pool.ts'

/** Dependencies of {@link NodeShare}. */
export interface NodeShareOptions {
  pool: NodePool
  /** Limit on the number of nodes. */
  maxNodes: number
  /** Name of the namespace, for errors. */
  namespace: string
  clock: Pick<SandboxClock, 'wallSleep'>
  /** Milliseconds that a chain waits for a node; default: as {@link PoolOptions}. */
  placeTimeout?: number
}

/** The part of the pool that the chains of one namespace may have: a further chain gets the place of one that is idle, or waits for it. */
export class NodeShare implements Pick<NodePool, 'enter' | 'start' | 'used' | 'giveBack'> {
  readonly #options: Required<NodeShareOptions>
  /** Chains that have a node, the least recently used first. */
  readonly #users = new Set<NodeUser>()
  readonly #queue = new SerialQueue()
  /** Makes the chain that waits for a place try again. */
  #lookAgain: () => void = () => {}

  constructor(options: NodeShareOptions) {
    this.#options = { placeTimeout: PLACE_TIMEOUT_MS, ...options }
  }

  /** As {@link NodePool.enter}. Throws NoNodeFreeError also if all chains of the namespace stay in use. */
  async enter(user: NodeUser, copy: ChainCopy | undefined): ReturnType<NodePool['enter']> {
    const { pool, clock, placeTimeout } = this.#options
    const late = clock.wallSleep(placeTimeout).then(() => 'late' as const)
    return this.#queue.run(async () => {
      while (this.#users.size >= this.#options.maxNodes) {
        const changed = new Promise<void>((resolve) => {
          this.#lookAgain = resolve
        })
        if (await this.#makeRoom()) continue
        if ((await Promise.race([changed, late])) === 'late') throw this.#tooMany(user)
      }
      const { place, ...rest } = await pool.enter(user, copy)
      this.#users.add(user)
      const leave = () => {
        place.leave()
        this.#users.delete(user)
        this.#lookAgain()
      }
      return { ...rest, place: { leave } }
    })
  }

  start<Result>(user: NodeUser, task: () => Promise<Result>): Promise<Result> {
    return this.#options.pool.start(user, task)
  }

  used(user: NodeUser): void {
    this.#options.pool.used(user)
    if (this.#users.delete(user)) this.#users.add(user)
    this.#lookAgain()
  }

  giveBack(node: AnvilNode): Promise<void> {
    return this.#options.pool.giveBack(node)
  }

  /** @returns true if an idle chain has given its node away */
  async #makeRoom(): Promise<boolean> {
    for (const user of [...this.#users]) if (user.idle && (await user.rest(false))) return true
    return false
  }

  #tooMany({ chain_id }: NodeUser): NoNodeFreeError {
    const { maxNodes, namespace } = this.#options
    const reason = `the namespace "${namespace}" has ${maxNodes} Anvils at work, as many as it may have at once, and none of them is idle: see --quota-anvils`
    return new NoNodeFreeError(chain_id, reason)
  }
}
