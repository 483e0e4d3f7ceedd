import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../support/logger.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import { BlockArchive } from './archive/block-archive.ts'
import type { ChainCopies, ChainCopy } from './chain-copy.ts'
import { AnvilNode } from './node/anvil-node.ts'

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
export class SpareNodes {
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

export interface SpareDeps {
  clock: SandboxClock
  log: Logger
  /** A place for another node; undefined if there is none. */
  place(): NodePlace | undefined
  /** Called when there is one more. */
  made(): void
}
