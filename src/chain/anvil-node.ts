import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../domain/ports/logger.ts'
import type { Hex } from '../domain/records.ts'
import { AnvilProcess } from './anvil-process.ts'
import type { BlockArchive } from './block-archive.ts'
import { type Checkpoint, genesisOf } from './checkpoint.ts'
import { CheckpointSource, type RealChain } from './checkpoint-source.ts'
import { type Operation, perform } from './operation.ts'
import { type Call, Rpc } from './rpc.ts'
import { RpcServer } from './rpc-server.ts'

/** What a node is made from. */
export interface NodeOptions {
  chainId: string
  checkpoint: Checkpoint
  /** Blocks up to the checkpoint's. */
  archive: BlockArchive
  /** For a fork. */
  real?: RealChain
  /** Interface Anvil listens on; default 127.0.0.1. */
  host?: string
  clock: SandboxClock
  log: Logger
  /** Milliseconds without an answer before a call is given up. */
  timeout: number
}

/**
 * What keeps block hashes (EIP-2935) and beacon roots (EIP-4788). Every block would write a slot of its own there, which a
 * fork must first fetch: a round trip to the upstream per block, and no block while it is down. Nothing here asks them.
 */
const SYSTEM_CONTRACTS = ['0x0000F90827F1C53a10cb7A02335B175320002935', '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02']

/**
 * Blocks whose transactions Anvil keeps: with their traces they take 20 KB each, in memory and in every dump. Older ones are
 * in the archive.
 */
export const BLOCKS_KEPT = 32
/** No state but the present one is kept: Anvil would copy it at every block, and spill it into the home directory. */
const BOUNDED = ['--prune-history', '--transaction-block-keeper', String(BLOCKS_KEPT)]
/** Anvil is not to try again by itself: a fork's relay did, and says when it is of no use. */
const NO_RETRIES = ['--retries', '0', '--no-rate-limit']
/** Anvil would keep what it fetched in the home directory, by chain id and block: a stale answer for another upstream. */
const NO_CACHE = '--no-storage-caching'

/** An Anvil that goes on from a checkpoint, and what it reads from while it does. */
export class AnvilNode {
  /** Starts one at the checkpoint and does the operations again. Throws `AnvilStartError` and others. */
  static async start(options: NodeOptions, operations: readonly Operation[] = []): Promise<AnvilNode> {
    const { chainId, checkpoint, host, clock, log, timeout } = options
    const source = await RpcServer.listen(new CheckpointSource(options).answer)
    let process: AnvilProcess | undefined
    try {
      const fork = ['--fork-url', source.url, '--fork-block-number', String(Number(checkpoint.block.number))]
      const flags = [...fork, ...NO_RETRIES, NO_CACHE, ...BOUNDED]
      const genesis = genesisOf(checkpoint, chainId)
      process = await AnvilProcess.start({ chainId, genesis, flags, clock, log, ...(host && { host }) })
      const node = new AnvilNode(process, source, checkpoint)
      await node.#begin(new Rpc({ chainId, url: process.url, timeout }), operations)
      return node
    } catch (error) {
      await process?.stop()
      source.close()
      throw error
    }
  }

  readonly process: AnvilProcess
  readonly checkpoint: Checkpoint
  /** Somebody has something in it that no checkpoint keeps. */
  pinned = false
  readonly #source: RpcServer
  #snapshot: Hex = '0x'

  private constructor(process: AnvilProcess, source: RpcServer, checkpoint: Checkpoint) {
    this.process = process
    this.checkpoint = checkpoint
    this.#source = source
  }

  /**
   * Back to the checkpoint, in a millisecond; what others had in the node is theirs no longer. Throws when somebody else's
   * revert took the checkpoint away.
   */
  async rewind(rpc: Rpc): Promise<void> {
    await rpc.call('anvil_dropAllTransactions') // Anvil keeps them across a revert
    if (!(await rpc.call<boolean>('evm_revert', this.#snapshot))) throw new Error('the checkpoint is gone')
    this.#snapshot = await rpc.call<Hex>('evm_snapshot')
    this.pinned = false
  }

  async stop(): Promise<void> {
    await this.process.stop()
    this.#source.close()
  }

  async #begin(rpc: Rpc, operations: readonly Operation[]): Promise<void> {
    try {
      await rpc.batch(SYSTEM_CONTRACTS.map((address): Call => ['anvil_setCode', address, '0x']))
      this.#snapshot = await rpc.call<Hex>('evm_snapshot')
      for (const operation of operations) await perform(rpc, operation)
      // Were the port another Anvil's, ours would have said so and gone by now.
      if (this.process.exit !== undefined) throw new Error(this.process.exit)
    } finally {
      rpc.close()
    }
  }
}
