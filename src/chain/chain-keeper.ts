import type { SandboxClock } from '../domain/clock.ts'
import { ChainUnavailableError } from '../domain/ports/chain.ts'
import type { Logger } from '../domain/ports/logger.ts'
import type { Hex } from '../domain/records.ts'
import { AnvilNode, type NodeOptions } from './anvil-node.ts'
import { AnvilStartError } from './anvil-process.ts'
import { type Block, LATEST_BLOCK } from './block.ts'
import type { ChainJournal, History } from './chain-journal.ts'
import type { Checkpoint } from './checkpoint.ts'
import { Lane } from './lane.ts'
import { Rpc } from './rpc.ts'

/** What a keeper works with. */
export interface KeeperParts {
  /** For every node but its checkpoint. */
  node: Omit<NodeOptions, 'checkpoint'>
  /** The chain's client: it is moved to whatever node is the present one. */
  rpc: Rpc
  journal: ChainJournal
  clock: SandboxClock
  log: Logger
  /** Resolves when no change of the chain is under way: each is done and kept, or has failed. */
  idle(): Promise<void>
  /** Told when another node has taken the place of one that was lost. */
  restarted(): Promise<void>
}

/** Milliseconds without an answer after which an Anvil is taken for hung, and killed. */
const HANG_PATIENCE = 10_000
/** Milliseconds between looks whether it hangs. */
const PROBE_PAUSE = 1_000
/** Milliseconds between attempts to start another one: at first, and at most. */
const FIRST_PAUSE = 100
const LAST_PAUSE = 5_000

/** Keeps an Anvil running for a chain: one that dies or hangs is replaced by another, brought to where the journal ends. */
export class ChainKeeper {
  readonly #parts: KeeperParts
  /** Nodes are replaced one after another. */
  readonly #lane = new Lane()
  #node: AnvilNode | undefined
  /** Nodes that were replaced, and still have to answer what they were asked before. */
  readonly #leaving = new Set<AnvilNode>()
  #suspended = false
  #stopped = false
  #restarting: Promise<void> | undefined

  constructor(parts: KeeperParts) {
    this.#parts = parts
  }

  /** Starts the first node. */
  async start(history: History): Promise<void> {
    await this.#lane.run(() => this.#build(history))
    void this.#watchForHang()
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

  /** Ends the present node: another one takes its place, with what the journal holds. */
  discard(): void {
    this.#node?.process.kill()
  }

  /**
   * Makes history what the chain is, and what is kept of it. Reads go on meanwhile; nothing may change the chain. Throws
   * ChainUnavailableError when no other node starts: the present one stays.
   */
  async replace(history: History): Promise<void> {
    await this.#lane.run(async () => {
      try {
        await this.#build(history, () => this.#parts.journal.replace(history))
      } catch (error) {
        if (!(error instanceof AnvilStartError)) throw error
        throw new ChainUnavailableError(this.#parts.node.chainId, error.message, { cause: error })
      }
    })
    await this.#restarting // the node that was replaced may have died meanwhile
  }

  /** Somebody has something in the present node that no checkpoint keeps: a snapshot, a filter, a setting. */
  pin(): void {
    this.#present.pinned = true
  }

  get pinned(): boolean {
    return this.#present.pinned
  }

  /**
   * Puts another node in the place of the present one; history is what the journal holds. Reads go on meanwhile; nothing may
   * change the chain. Throws when no other node starts or comes to the same block (the upstream of a fork may fail), or when
   * the present one is pinned by then: it stays.
   */
  async renew(history: History): Promise<void> {
    await this.#lane.run(async () => {
      if (this.#stopped) return
      await this.#build(history, async ({ process: { url } }) => {
        const fresh = new Rpc({ ...this.#parts.node, url })
        const [hash, other] = await Promise.all([this.#parts.rpc, fresh].map(lastBlock)).finally(() => fresh.close())
        if (hash !== other) throw new Error('it came to another block')
        if (this.pinned) throw new Error('the present one is needed')
      })
    })
  }

  /** As {@link replace} with nothing but a checkpoint, faster if the present node began with it. */
  async rewind(checkpoint: Checkpoint): Promise<void> {
    await this.#restarting
    const history = { checkpoint, operations: [] }
    if (this.#node?.checkpoint === checkpoint) {
      try {
        await this.#node.rewind(this.#parts.rpc)
        return await this.#parts.journal.replace(history)
      } catch (error) {
        this.#parts.log.debug({ err: error }, 'no way back to the checkpoint: the chain is built anew')
      }
    }
    await this.replace(history)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#lane.run(async () => {
      await Promise.all([this.#node, ...this.#leaving].map((node) => node?.stop()))
    })
  }

  get #present(): AnvilNode {
    if (!this.#node) throw new Error('the chain has not started')
    return this.#node
  }

  async #build({ checkpoint, operations }: History, ready?: (node: AnvilNode) => Promise<void>): Promise<void> {
    const node = await AnvilNode.start({ ...this.#parts.node, checkpoint }, operations)
    try {
      await ready?.(node)
    } catch (error) {
      await node.stop()
      throw error
    }
    const before = this.#node
    this.#node = node
    if (this.#suspended) node.process.suspend()
    const answered = this.#parts.rpc.moveTo(node.process.url)
    void node.process.exited.then((reason) => this.#lost(node, reason))
    if (before) void this.#retire(before, answered)
  }

  async #retire(node: AnvilNode, answered: Promise<void>): Promise<void> {
    this.#leaving.add(node)
    await answered
    await node.stop().catch((error: unknown) => this.#parts.log.debug({ err: error }, 'an Anvil did not end in order'))
    this.#leaving.delete(node)
  }

  #lost(node: AnvilNode, reason: string): void {
    if (this.#stopped || node !== this.#node) return
    this.#parts.log.error({ chain_id: this.#parts.node.chainId, reason }, 'the chain ended; it is being restarted')
    this.#restarting = this.#restart(node, `${reason}; it is being restarted`)
      .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'the restarted chain was lost or stopped'))
      .finally(() => {
        this.#restarting = undefined
      })
  }

  async #restart(lost: AnvilNode, reason: string): Promise<void> {
    const { rpc, journal, clock, log, node } = this.#parts
    const release = rpc.hold(reason)
    for (let pause = FIRST_PAUSE; !this.#stopped; pause = Math.min(pause * 2, LAST_PAUSE)) {
      try {
        await this.#parts.idle()
        await this.#lane.run(async () => {
          const history = await journal.read()
          if (history && lost === this.#node && !this.#stopped) await this.#build(history)
        })
        break
      } catch (error) {
        log.error({ chain_id: node.chainId, err: error }, 'the chain could not be restarted yet')
        await clock.wallSleep(pause)
      }
    }
    release()
    if (this.#stopped) return
    log.info({ chain_id: node.chainId }, 'the chain is back where it was')
    await this.#parts.restarted()
  }

  async #watchForHang(): Promise<void> {
    const { rpc, clock, log, node } = this.#parts
    let silentSince: number | undefined
    while (!this.#stopped) {
      await clock.wallSleep(PROBE_PAUSE)
      const asked = clock.wallNow()
      const watched = this.#node
      try {
        if (!rpc.held) await rpc.call('eth_chainId')
        silentSince = undefined
      } catch {
        silentSince = rpc.held || watched !== this.#node ? undefined : (silentSince ?? asked)
        if (silentSince === undefined || clock.wallNow() - silentSince < HANG_PATIENCE) continue
        log.error({ chain_id: node.chainId }, 'the chain hangs: it is killed')
        this.discard()
      }
    }
  }
}

async function lastBlock(rpc: Rpc): Promise<Hex> {
  return (await rpc.call<Block>(...LATEST_BLOCK)).hash
}
