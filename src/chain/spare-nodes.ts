import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../support/logger.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import type { ChainCopies, ChainCopy } from './anvil-chain.ts'
import { BlockArchive } from './archive/block-archive.ts'
import { isSameCheckpoint } from './history/checkpoint.ts'
import { AnvilNode } from './node/anvil-node.ts'

/** The right to have one of the limited number of nodes. */
export interface NodePlace {
  /** Call when the node has ended. May be called again. */
  leave(): void
}

/** A node that nobody uses. */
interface Spare {
  node: AnvilNode
  place: NodePlace
}

/** A copy for which spares are kept. */
interface Wanted {
  chainId: string
  copy: ChainCopy
  /** Number of times that chains were likely to begin with it. */
  times: number
  spares: Spare[]
  /** The spare that is being made and that nobody has taken yet; undefined if it cannot be made. */
  making?: Promise<Spare | undefined>
}

/** Number of copies for which a spare is kept. */
const MOST_COPIES = 4
const TIMEOUT_MS = 10_000
/** Milliseconds until another spare is made: the chain that took the last one has work to do first, and others may give one back. */
const REPLACE_AFTER_MS = 100
/** Number of spares beyond which nodes are not taken back. */
const MOST_SPARES = 4
/** Milliseconds that a node is kept that was given back while there was a spare already. */
const KEPT_MS = 60_000
/** Milliseconds within which a node must have begun again; that takes a few. */
const BEGIN_AGAIN_MS = 1_000
/** Number of times that a node begins. Its memory was the same after 300 uses of ten deposits each; this is for what was not measured. */
const MOST_USES = 1_000

/**
 * Nodes that are already at the end of copies, so that a chain that begins with one of these copies need not wait. One is made for each copy;
 * more are there for a while when chains give theirs back, which takes a tenth of the work of a new one.
 */
export class SpareNodes {
  readonly #deps: SpareDeps
  /** The least recently prepared copy comes first. */
  readonly #wanted = new Map<ChainCopy, Wanted>()
  readonly #queue = new SerialQueue()
  /** Number of nodes that are being given back. */
  #returning = 0
  #stopped = false

  constructor(deps: SpareDeps) {
    this.#deps = deps
  }

  /** Keeps a spare for each of these copies, except forks, whose nodes read from an upstream. */
  prepare(copies: ChainCopies): void {
    for (const [chainId, copy] of copies) {
      if (copy.history.checkpoint.forked !== undefined) continue
      const wanted = this.#wanted.get(copy) ?? { chainId, copy, times: 0, spares: [] }
      wanted.times++
      this.#wanted.delete(copy)
      this.#wanted.set(copy, wanted)
      for (const oldest of this.#wanted.values()) {
        if (this.#wanted.size <= MOST_COPIES) break
        for (const spare of oldest.spares.splice(0)) void this.#end(spare)
        this.#wanted.delete(oldest.copy)
      }
      if (wanted.spares.length === 0) void this.#make(wanted)
    }
  }

  /** Takes a spare of a copy, if there is one or one is being made, which is faster than to start one now. The caller then owns it. */
  async take(copy: ChainCopy): Promise<Spare | undefined> {
    const wanted = this.#wanted.get(copy)
    if (!wanted) return undefined
    const making = wanted.spares.length === 0 ? wanted.making : undefined
    if (making) delete wanted.making
    const spare = wanted.spares.pop() ?? (await making)
    // The first chain is often the only one.
    if (wanted.times > 1 && wanted.spares.length === 0)
      void this.#deps.clock.wallSleep(REPLACE_AFTER_MS).then(() => this.#make(wanted))
    return spare?.node.process.exit === undefined ? spare : void this.#end(spare)
  }

  /** Makes a used node begin again as a spare, if a copy wants it and there are few; ends it otherwise. */
  async giveBack(node: AnvilNode): Promise<void> {
    const wanted = this.#stopped || node.uses === MOST_USES ? undefined : this.#wantedOf(node)
    const place = wanted && this.#count < MOST_SPARES ? this.#deps.place() : undefined
    if (!wanted || !place) return node.stop()
    const spare = { node, place }
    this.#returning++
    const ready = await this.#beginsAgain(spare, wanted.copy)
    this.#returning--
    await (ready ? this.#add(wanted, spare) : this.#end(spare))
  }

  /**
   * Ends a spare of the least recently prepared copy.
   * @returns true if there was one
   */
  async endOne(): Promise<boolean> {
    for (const { spares } of this.#wanted.values()) {
      const spare = spares.pop()
      if (!spare) continue
      await this.#end(spare)
      return true
    }
    return false
  }

  /** Makes no more spares, and takes none back. */
  beginStop(): void {
    this.#stopped = true
  }

  /** Ends all spares and does not make more. */
  async stop(): Promise<void> {
    this.beginStop()
    await this.#queue.run(async () => {
      while (await this.endOne());
    })
  }

  /** Number of spares, with those that are about to be. */
  get #count(): number {
    return [...this.#wanted.values()].reduce((sum, { spares }) => sum + spares.length, this.#returning)
  }

  /** The copy that a node can serve: the most recently prepared one without a spare, or else the most recently prepared. */
  #wantedOf({ chainId, checkpoint }: AnvilNode): Wanted | undefined {
    const fitting = [...this.#wanted.values()].filter(
      (wanted) => wanted.chainId === chainId && isSameCheckpoint(wanted.copy.history.checkpoint, checkpoint),
    )
    return fitting.findLast(({ spares }) => spares.length === 0) ?? fitting.at(-1)
  }

  /** @returns true if a used node stands at the end of the copy */
  async #beginsAgain({ node }: Spare, copy: ChainCopy): Promise<boolean> {
    const { clock, log } = this.#deps
    let over = false
    void clock.wallSleep(BEGIN_AGAIN_MS).then(() => over || node.process.kill())
    try {
      await node.beginAgain(copy.history, new BlockArchive(undefined, copy.archived))
      return true
    } catch (error) {
      log.debug({ chain_id: node.chainId, err: error }, 'a used Anvil cannot begin again')
      return false
    } finally {
      over = true
    }
  }

  /** Makes a spare for a copy, unless there is one by then, or no place is free. */
  #make(wanted: Wanted): Promise<void> {
    return this.#queue.run(async () => {
      const place = this.#keeps(wanted) && wanted.spares.length === 0 ? this.#deps.place() : undefined
      if (!place) return
      const making = this.#start(wanted, place)
      wanted.making = making
      const spare = await making
      if (wanted.making !== making) return // somebody has taken it
      delete wanted.making
      if (spare) await this.#add(wanted, spare)
    })
  }

  /** @returns true if spares are still kept for the copy */
  #keeps(wanted: Wanted): boolean {
    return !this.#stopped && this.#wanted.get(wanted.copy) === wanted
  }

  /** Keeps a spare, unless it is not wanted any more by now. */
  async #add(wanted: Wanted, spare: Spare): Promise<void> {
    if (!this.#keeps(wanted)) return this.#end(spare)
    const { spares } = wanted
    spares.push(spare)
    void spare.node.process.exited.then(() => this.#remove(wanted, spare))
    if (spares.length > 1) void this.#deps.clock.wallSleep(KEPT_MS).then(() => this.#thinOut(wanted, spare))
    this.#deps.available()
  }

  /** Ends a spare that nobody has taken for a while, if there is another one. */
  async #thinOut(wanted: Wanted, spare: Spare): Promise<void> {
    if (wanted.spares.length > 1) await this.#remove(wanted, spare)
  }

  /** Ends a spare that is still there. */
  async #remove({ spares }: Wanted, spare: Spare): Promise<void> {
    const index = spares.indexOf(spare)
    if (index < 0) return
    spares.splice(index, 1)
    await this.#end(spare)
  }

  async #start({ chainId, copy }: Wanted, place: NodePlace): Promise<Spare | undefined> {
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
  /** Returns a place for another node; undefined if all are in use. */
  place(): NodePlace | undefined
  /** Called when there is another spare. */
  available(): void
}
