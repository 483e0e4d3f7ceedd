import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import type { Logger } from '../../support/logger.ts'
import { type History, perform, tipOf } from '../history/chain-journal.ts'
import { type Checkpoint, genesisOf } from '../history/checkpoint.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import { RpcServer } from '../json-rpc/rpc-server.ts'
import { AnvilProcess, AnvilStartError } from './anvil-process.ts'
import { ForkUpstreamStub, type StubDeps } from './fork-upstream-stub.ts'

/** What a node is made from. */
export interface NodeOptions extends StubDeps {
  clock: SandboxClock
  log: Logger
  /** Milliseconds without an answer before a call is given up. */
  timeout: number
  /** Called when its process has been started. */
  spawned?: (() => void) | undefined
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
/** States are kept in memory, if at all: Anvil would spill them into the home directory. */
const PRUNED = '--prune-history'
const BOUNDED = ['--transaction-block-keeper', String(BLOCKS_KEPT)]
/** Anvil is not to try again by itself: a fork's relay did, and says when it is of no use. */
const NO_RETRIES = ['--retries', '0', '--no-rate-limit']
/** Anvil would keep what it fetched in the home directory, by chain id and block: a stale answer for another upstream. */
const NO_CACHE = '--no-storage-caching'

/**
 * The rules of Ethereum that hard forks of Optimism's family of chains stand for (https://specs.optimism.io, Network Upgrades).
 * Anvil makes the blocks of a fork of theirs under these, whatever name it gives them. Told `--network optimism`, which it
 * wants with these names, it would charge for L1, and a transaction whose state it cannot fetch would stay out of the block
 * and yet have an effect: its nonce would be spent.
 */
const OPTIMISM: Readonly<Record<string, string>> = {
  bedrock: 'paris',
  regolith: 'paris',
  canyon: 'shanghai',
  ecotone: 'cancun',
  fjord: 'cancun',
  granite: 'cancun',
  holocene: 'cancun',
  isthmus: 'prague',
  jovian: 'prague',
  interop: 'osaka',
}

/** Milliseconds until the end of a process that failed is known. */
const EXIT_TIMEOUT_MS = 50

/** Done again, operations led to another block than the first time: their node must not be built on. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError'
}

/** An Anvil that goes on from a checkpoint, and what it reads from while it does. */
export class AnvilNode {
  /**
   * Starts one at the history's checkpoint and does the operations again. Throws `AnvilStartError`, {@link ReplayError} and
   * others.
   */
  static async start(given: Omit<NodeOptions, 'checkpoint'>, history: History): Promise<AnvilNode> {
    const { checkpoint } = history
    const options: NodeOptions = { ...given, checkpoint }
    const { chainId, clock, log, timeout, spawned } = options
    const stub = new ForkUpstreamStub(options)
    const source = await RpcServer.listen(stub.answer)
    let process: AnvilProcess | undefined
    try {
      const block = ['--fork-block-number', String(Number(checkpoint.block.number))]
      const flags = [...block, ...rulesOf(checkpoint), ...NO_RETRIES, NO_CACHE, ...statesOf(checkpoint), ...BOUNDED]
      const genesis = genesisOf(checkpoint, chainId)
      process = await AnvilProcess.start({ chainId, genesis, source: source.url, flags, clock, log, spawned })
      const rpc = new RpcClient({ chainId, url: process.url, timeout })
      const node = new AnvilNode({ process, source, stub, checkpoint, rpc })
      await node.#begin(history)
      return node
    } catch (cause) {
      // Its end may be known a moment later than that it does not answer.
      if (process) await Promise.race([process.exited, clock.wallSleep(EXIT_TIMEOUT_MS)])
      const exit = process?.exit
      await process?.stop()
      source.close()
      throw exit === undefined ? cause : new AnvilStartError(exit, { cause })
    }
  }

  readonly process: AnvilProcess
  readonly checkpoint: Checkpoint
  foreign = new ForeignState()
  #tip: Block | undefined
  readonly #source: RpcServer
  readonly #stub: ForkUpstreamStub
  /** A client of its own: the chain's moves to other nodes, and what is meant for this one must not reach them. */
  readonly #rpc: RpcClient
  #snapshot: Hex = '0x'

  private constructor({ process, source, stub, checkpoint, rpc }: NodeParts) {
    this.process = process
    this.checkpoint = checkpoint
    this.#source = source
    this.#stub = stub
    this.#rpc = rpc
  }

  /** Call when the node becomes that of a chain, which has an archive and a budget of its own. */
  adopt(sources: Pick<StubDeps, 'archive' | 'fetches'>): void {
    this.#stub.servedFrom(sources)
  }

  /**
   * Back to the checkpoint, in a millisecond; what others had in the node is theirs no longer. Returns the last block. Throws
   * when that does not lead there, since others changed the node.
   */
  async rewind(): Promise<Block> {
    const rpc = this.#rpc
    await rpc.call('anvil_dropAllTransactions') // Anvil keeps them across a revert
    if (!(await rpc.call<boolean>('evm_revert', this.#snapshot))) throw new Error('the checkpoint is gone')
    this.#snapshot = await rpc.call<Hex>('evm_snapshot')
    this.foreign = new ForeignState()
    return this.#reach({ checkpoint: this.checkpoint, operations: [] })
  }

  /** The last block of the history it was started with. */
  get tip(): Block {
    if (!this.#tip) throw new Error('the node has not started')
    return this.#tip
  }

  /** Throws {@link ReplayError} unless it was started with a history that ends with the same block. */
  requireAt(history: History): void {
    requireTip(history, this.tip)
  }

  /** How many states it keeps, at most, of blocks after which one. */
  get states(): { after: number; count: number } {
    const { accounts, block } = this.checkpoint
    return { after: Number(block.number), count: statesKept(accounts.length) }
  }

  async stop(): Promise<void> {
    await this.process.stop()
    this.#rpc.close()
    this.#source.close()
  }

  async #begin(history: History): Promise<void> {
    const rpc = this.#rpc
    await rpc.batch(SYSTEM_CONTRACTS.map((address): RpcCall => ['anvil_setCode', address, '0x']))
    this.#snapshot = await rpc.call<Hex>('evm_snapshot')
    for (const operation of history.operations) await perform(rpc, operation)
    this.#tip = await this.#reach(history)
    // Were the port another Anvil's, ours would have said so and gone by now.
    if (this.process.exit !== undefined) throw new Error(this.process.exit)
  }

  /** The last block, which must be the one that the history ends with. */
  async #reach(history: History): Promise<Block> {
    const block = await this.#rpc.call<Block>(...LATEST_BLOCK)
    requireTip(history, block)
    return block
  }
}

/** Throws {@link ReplayError} if the block is not the one that the history ends with, as far as that is known. */
function requireTip(history: History, block: Block): void {
  const { number, hash, parentHash, transactions } = tipOf(history)
  const same = <Part>(known: Part | undefined, found: Part) => known === undefined || known === found
  const rest = same(parentHash, block.parentHash) && same(transactions, block.transactions.length)
  if (Number(block.number) === number && same(hash, block.hash) && rest) return
  throw new ReplayError(`done again, block ${number} came out as another one (${Number(block.number)} ${block.hash})`)
}

interface NodeParts {
  process: AnvilProcess
  source: RpcServer
  stub: ForkUpstreamStub
  checkpoint: Checkpoint
  rpc: RpcClient
}

/** Flags that say how many states are kept. Without a number it is the present one, and none is copied. */
function statesOf({ accounts }: Checkpoint): string[] {
  const count = statesKept(accounts.length)
  return count > 1 ? [PRUNED, String(count)] : [PRUNED]
}

/** Flags that name the rules of a checkpoint's blocks. */
function rulesOf({ hardfork }: Checkpoint): string[] {
  if (hardfork === undefined) return []
  return ['--hardfork', OPTIMISM[hardfork] ?? hardfork]
}

/** Blocks whose state a node keeps, as geth does unless it is an archive. */
const STATES = 128
/**
 * Characters of a checkpoint's accounts up to which they are kept. A node keeps each state whole: those of this size take some
 * 300 MB together and 2 ms a block. It is that of some 1,500 end users with deposits.
 */
const LARGEST_STATE = 2_000_000

/** How many states a node keeps that starts at a checkpoint whose accounts have so many characters; at least the last one. */
export function statesKept(characters: number): number {
  return characters <= LARGEST_STATE ? STATES : 1
}

/** What others have in a node and no checkpoint keeps. It is gone with the node, and with a way back to its checkpoint. */
export class ForeignState {
  /** A snapshot, a filter or a setting: another node must not take this one's place unnoticed. */
  pinned = false
  /** A setting that no way back undoes: only another node is without it. */
  altered = false
  /** The time of the next block was set. */
  timeSet = false
  /** Snapshots by id, with where the chain stood. */
  readonly snapshots = new Map<string, SnapshotPlace>()
}

/** Where the chain stood when somebody took a snapshot. */
export interface SnapshotPlace {
  height: number
  /** What the service itself had done to the chain by then: a number that only grows. */
  ownChanges: number
}
