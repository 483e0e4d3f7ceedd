import { availableParallelism } from 'node:os'
import type { SandboxClock } from '../domain/clock.ts'
import { ChainUnavailableError, NoNodeFreeError } from '../domain/ports/chain.ts'
import type { Logger } from '../support/logger.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import { Slots } from '../support/slots.ts'
import { BlockArchive } from './archive/block-archive.ts'
import type { ChainCopies, ChainCopy } from './chain-copy.ts'
import { AnvilNode } from './node/anvil-node.ts'

/** A chain that has a node, or needs one. */
export interface NodeUser {
  readonly chain_id: string
  /** Whether its node can be taken from it while nobody uses it. */
  readonly restable: boolean
  /** Whether it has a node that nobody uses. */
  readonly idle: boolean
  /** Ends its node, if nothing would be lost; returns whether it did. */
  rest(forgetting: boolean): Promise<boolean>
}

/** Milliseconds that a chain waits for a node, a little less than whoever needs the chain waits for it. */
const PLACE_TIMEOUT_MS = 29_000
/** Milliseconds until it has its turn to start: it comes, but a hundred take their time on a busy machine. */
const TURN_TIMEOUT_MS = 110_000
/** Nodes that start at the same time: more would only make each other slow. */
const STARTING = 2 * availableParallelism()

/**
 * The nodes of all chains of a sandbox: no more than so many at a time. Whoever needs another one gets that of the chain that was
 * not used for longest, which rests then. Keeps spares for chains that begin with a copy.
 */
export class NodePool {
  readonly #options: Required<PoolOptions>
  /** Chains that can be put to rest. The one that was not used for longest comes first. */
  readonly #users = new Set<NodeUser>()
  /** One after another is looked for a place, in the order they came. */
  readonly #queue = new SerialQueue()
  readonly #spares: SpareNodes
  readonly #starting = new Slots(STARTING)
  #nodes = 0
  /** Lets whoever waits for a place look again. */
  #lookAgain: () => void = () => {}

  constructor(options: PoolOptions) {
    this.#options = { placeTimeout: PLACE_TIMEOUT_MS, ...options }
    this.#spares = new SpareNodes({
      ...options,
      place: () => (this.#full ? undefined : this.#placeOf(undefined)),
      made: () => this.#lookAgain(),
    })
  }

  /** How many there are, or are about to be. */
  get nodes(): number {
    return this.#nodes
  }

  /** From now on, spares stand where these copies end: to be called when somebody is likely to begin with them. */
  prepare(copies: ChainCopies): void {
    this.#spares.prepare(copies)
  }

  /**
   * A place for a node, and a spare node if there is one at the end of the copy: whoever has the place ends it. Throws
   * ChainUnavailableError if all are in use.
   */
  async enter(user: NodeUser, copy: ChainCopy | undefined): Promise<{ place: NodePlace; node?: AnvilNode }> {
    const spare = copy && this.#spares.take(copy)
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

  /** Starts a node, in its turn. Throws ChainUnavailableError when that does not come, and what the task throws. */
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

  /** Call when a chain is not used any more. */
  used(user: NodeUser): void {
    if (this.#users.delete(user)) this.#users.add(user)
    this.#lookAgain()
  }

  /** Ends the spares, and makes no more. */
  stop(): Promise<void> {
    return this.#spares.stop()
  }

  get #full(): boolean {
    return this.#nodes >= this.#options.maxNodes
  }

  /** A place of its own, or the one that a spare had. */
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

  /** Ends a spare, or the node of the chain that was not used for longest. Returns whether there is one node less. */
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
  /** Nodes at a time, spares included. */
  maxNodes: number
  /** Milliseconds that a chain waits for a node; default 29 s. */
  placeTimeout?: number
}

/** A node's place among all. */
export interface NodePlace {
  /** Call when the node has ended. May be called again. */
  leave(): void
}

/** A node that nobody has used yet. */
interface Spare {
  node: AnvilNode
  place: NodePlace
}

/** Copies that spares are kept for, each with one. */
const MOST_COPIES = 4
const TIMEOUT_MS = 10_000
/** Milliseconds until another spare is made: whoever took the last one has something to do with it first. */
const REPLACE_AFTER_MS = 100

/** Nodes that stand at the end of copies already: a chain that begins with one of these need not wait for its node. */
class SpareNodes {
  readonly #deps: SpareDeps
  /** With the spare of each copy, if there is one at present. The copy that nobody asked for longest comes first. */
  readonly #wanted = new Map<ChainCopy, { chainId: string; spare?: Spare }>()
  readonly #queue = new SerialQueue()
  #stopped = false

  constructor(deps: SpareDeps) {
    this.#deps = deps
  }

  /** Keeps a spare for each of these that is no fork: a fork's node reads from somewhere else. */
  prepare(copies: ChainCopies): void {
    for (const [chainId, copy] of copies) {
      if (copy.history.checkpoint.forked !== undefined) continue
      const known = this.#wanted.get(copy)
      this.#wanted.delete(copy)
      this.#wanted.set(copy, known ?? { chainId })
      for (const oldest of this.#wanted.keys()) {
        if (this.#wanted.size <= MOST_COPIES) break
        void this.#end(this.#take(oldest))
        this.#wanted.delete(oldest)
      }
      if (!known?.spare) void this.#make(copy)
    }
  }

  /** The spare of a copy, if there is one: it is whoever's takes it. */
  take(copy: ChainCopy): Spare | undefined {
    const spare = this.#take(copy)
    if (this.#wanted.has(copy)) void this.#deps.clock.wallSleep(REPLACE_AFTER_MS).then(() => this.#make(copy))
    return spare?.node.process.exit === undefined ? spare : void this.#end(spare)
  }

  /** Ends the one that is needed least. Returns whether there was one. */
  async endOne(): Promise<boolean> {
    for (const copy of this.#wanted.keys()) {
      const spare = this.#take(copy)
      if (!spare) continue
      await this.#end(spare)
      return true
    }
    return false
  }

  /** Ends all, and makes no more. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#queue.run(async () => {
      while (await this.endOne());
    })
  }

  #take(copy: ChainCopy): Spare | undefined {
    const wanted = this.#wanted.get(copy)
    const spare = wanted?.spare
    if (wanted) delete wanted.spare
    return spare
  }

  /** Makes one, unless there is one by then, or no place for it. */
  #make(copy: ChainCopy): Promise<void> {
    return this.#queue.run(async () => {
      const wanted = this.#wanted.get(copy)
      if (this.#stopped || !wanted || wanted.spare) return
      const place = this.#deps.place()
      if (!place) return
      const spare = await this.#start(wanted.chainId, copy, place)
      if (!spare) return
      if (this.#wanted.get(copy) !== wanted) return this.#end(spare)
      wanted.spare = spare
      void spare.node.process.exited.then(() => this.#lost(copy, spare))
      this.#deps.made()
    })
  }

  /** It has ended by itself, or somebody killed it. */
  async #lost(copy: ChainCopy, spare: Spare): Promise<void> {
    if (this.#wanted.get(copy)?.spare === spare) await this.#end(this.#take(copy))
  }

  async #start(chainId: string, copy: ChainCopy, place: NodePlace): Promise<Spare | undefined> {
    const { clock, log } = this.#deps
    try {
      const archive = new BlockArchive(undefined, copy.archived)
      return { place, node: await AnvilNode.start({ chainId, archive, clock, log, timeout: TIMEOUT_MS }, copy.history) }
    } catch (error) {
      log.debug({ chain_id: chainId, err: error }, 'no spare Anvil could be made')
      place.leave()
      return undefined
    }
  }

  async #end(spare: Spare | undefined): Promise<void> {
    await spare?.node
      .stop()
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'a spare Anvil did not end in order'))
    spare?.place.leave()
  }
}

interface SpareDeps {
  clock: SandboxClock
  log: Logger
  /** A place for another node; undefined if there is none. */
  place(): NodePlace | undefined
  /** Called when there is one more. */
  made(): void
}
