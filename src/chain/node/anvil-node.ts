import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import type { Logger } from '../../support/logger.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import { type History, perform, tipOf } from '../history/chain-journal.ts'
import { type Checkpoint, genesisOf } from '../history/checkpoint.ts'
import { type Block, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, RpcClient } from '../json-rpc/rpc-client.ts'
import { RpcServer } from '../json-rpc/rpc-server.ts'
import { AnvilProcess, AnvilStartError } from './anvil-process.ts'
import { ForkUpstreamStub, type StubDeps } from './fork-upstream-stub.ts'

/** Dependencies of a node. */
export interface NodeOptions extends StubDeps {
  clock: SandboxClock
  log: Logger
  /** Milliseconds without an answer before a call is given up. */
  timeout: number
  /** Called when the process has been started. */
  spawned?: (() => void) | undefined
}

/**
 * The contracts that keep block hashes (EIP-2935) and beacon roots (EIP-4788); nothing here reads them, so they are removed. Every
 * block would write another slot there, which a fork must first fetch: a round trip per block, and no block while the upstream is down.
 */
const SYSTEM_CONTRACTS = ['0x0000F90827F1C53a10cb7A02335B175320002935', '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02']

/**
 * Number of blocks whose transactions Anvil keeps. With its trace, a transaction takes 20 KB, in memory and in every dump. Older
 * blocks are in the archive.
 */
export const BLOCKS_KEPT = 32
/** Keeps old states in memory, if at all: Anvil would otherwise write them to the home directory. */
const PRUNED = '--prune-history'
const BOUNDED = ['--transaction-block-keeper', String(BLOCKS_KEPT)]
/** Keeps Anvil from retrying: a fork's relay has retried already. */
const NO_RETRIES = ['--retries', '0', '--no-rate-limit']
/** Anvil would cache fetched state in the home directory, by chain id and block: a stale answer for another upstream. */
const NO_CACHE = '--no-storage-caching'

/**
 * Ethereum's hard forks by those of the Optimism family (https://specs.optimism.io, Network Upgrades). Anvil makes the blocks of such
 * a fork by Ethereum's rules, but reports Optimism's names, which its flag accepts only with `--network optimism`. With that, Anvil
 * would charge for L1, and a transaction whose state cannot be fetched would stay out of the block but use up its nonce.
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

/** Milliseconds to wait for the exit of a process that failed. */
const EXIT_TIMEOUT_MS = 50

/** The repeated operations led to another block than the first time, so their node must not be used. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError'
}

/** An Anvil that goes on from a checkpoint, with the server that plays the chain it forks. */
export class AnvilNode {
  /**
   * Starts a node at the history's checkpoint and repeats the operations. Throws `AnvilStartError`, {@link ReplayError} and
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
      const from = { source: source.url, asked: stub.asked }
      process = await AnvilProcess.start({ chainId, genesis, ...from, flags, clock, log, spawned })
      const rpc = new RpcClient({ chainId, url: process.url, timeout })
      const node = new AnvilNode({ chainId, process, source, stub, checkpoint, rpc })
      await node.#begin(history)
      return node
    } catch (cause) {
      // The exit of a crashed process may be reported a moment after the failed call.
      if (process) await Promise.race([process.exited, clock.wallSleep(EXIT_TIMEOUT_MS)])
      const exit = process?.exit
      await process?.stop()
      source.close()
      throw exit === undefined ? cause : new AnvilStartError(exit, { cause })
    }
  }

  readonly process: AnvilProcess
  readonly chainId: string
  readonly checkpoint: Checkpoint
  /** Number of times that it has begun: its memory grows each time. */
  uses = 1
  foreign = new ForeignState()
  #tip: Block | undefined
  readonly #source: RpcServer
  readonly #stub: ForkUpstreamStub
  /** A separate client: the chain's client moves to other nodes, which must not get the calls meant for this one. */
  readonly #rpc: RpcClient
  /** Id of the snapshot at the checkpoint. */
  #snapshot: Hex = '0x'
  /** Snapshot at the end of the history with which the node began again; undefined if there is none. */
  #end: { of: History; snapshot: Hex } | undefined

  private constructor({ chainId, process, source, stub, checkpoint, rpc }: NodeParts) {
    this.chainId = chainId
    this.process = process
    this.checkpoint = checkpoint
    this.#source = source
    this.#stub = stub
    this.#rpc = rpc
  }

  /**
   * Makes the node one that nobody has used, at the end of a history with the same checkpoint, whose older blocks are in `archive`. Takes
   * milliseconds if it began again with that history before. Throws if it cannot be done; the node must then be ended.
   */
  async beginAgain(history: History, archive: BlockArchive): Promise<void> {
    const { chainId, checkpoint } = this
    this.#stub.servedFrom({ chainId, checkpoint, archive })
    this.uses++
    if (this.#end?.of === history) {
      this.#end.snapshot = await this.#revert(this.#end.snapshot)
      this.#tip = await this.#reach(history)
      return
    }
    await this.rewind()
    await this.#goOn(history)
    this.#end = { of: history, snapshot: await this.#rpc.call<Hex>('evm_snapshot') }
  }

  /** Call when a chain takes the node over, with the chain's own archive and budget. */
  adopt(sources: Pick<StubDeps, 'archive' | 'fetches'>): void {
    const { chainId, checkpoint } = this
    this.#stub.servedFrom({ ...sources, chainId, checkpoint })
  }

  /**
   * Goes back to the checkpoint, in a millisecond. Foreign state in the node is lost. Returns the last block. Throws if the
   * checkpoint cannot be reached because the node was changed from outside.
   */
  async rewind(): Promise<Block> {
    this.#end = undefined // Anvil forgets it with all later than the checkpoint's
    this.#snapshot = await this.#revert(this.#snapshot)
    return this.#reach({ checkpoint: this.checkpoint, operations: [] })
  }

  /** Goes back to a snapshot, and takes it again. Returns its new id. */
  async #revert(snapshot: Hex): Promise<Hex> {
    const rpc = this.#rpc
    await rpc.call('anvil_dropAllTransactions') // Anvil keeps them across a revert
    if (!(await rpc.call<boolean>('evm_revert', snapshot))) throw new Error('the snapshot is gone')
    this.foreign = new ForeignState()
    return rpc.call<Hex>('evm_snapshot')
  }

  /** The last block of the history with which the node was started. */
  get tip(): Block {
    if (!this.#tip) throw new Error('the node has not started')
    return this.#tip
  }

  /** Throws {@link ReplayError} unless the node was started with a history that ends with the same block. */
  requireAt(history: History): void {
    requireTip(history, this.tip)
  }

  /** Limit `count` on the block states that the node keeps; it has none of the block `after` or earlier ones. */
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
    await this.#goOn(history)
    // If another Anvil had the port, ours would have failed and ended by now.
    if (this.process.exit !== undefined) throw new Error(this.process.exit)
  }

  /** Repeats the operations of a history at whose checkpoint the node stands. */
  async #goOn(history: History): Promise<void> {
    for (const operation of history.operations) await perform(this.#rpc, operation)
    this.#tip = await this.#reach(history)
  }

  /** Fetches the last block. Throws {@link ReplayError} unless it is the last one of the history. */
  async #reach(history: History): Promise<Block> {
    const block = await this.#rpc.call<Block>(...LATEST_BLOCK)
    requireTip(history, block)
    return block
  }
}

/** Throws {@link ReplayError} if the block is not the last one of the history, as far as that is known. */
function requireTip(history: History, block: Block): void {
  const { number, hash, parentHash, transactions } = tipOf(history)
  const same = <Part>(known: Part | undefined, found: Part) => known === undefined || known === found
  const rest = same(parentHash, block.parentHash) && same(transactions, block.transactions.length)
  if (Number(block.number) === number && same(hash, block.hash) && rest) return
  throw new ReplayError(`done again, block ${number} came out as another one (${Number(block.number)} ${block.hash})`)
}

interface NodeParts {
  chainId: string
  process: AnvilProcess
  source: RpcServer
  stub: ForkUpstreamStub
  checkpoint: Checkpoint
  rpc: RpcClient
}

/** Makes the flags for the number of kept states. Without a number, Anvil keeps the present state alone and copies none. */
function statesOf({ accounts }: Checkpoint): string[] {
  const count = statesKept(accounts.length)
  return count > 1 ? [PRUNED, String(count)] : [PRUNED]
}

/** Makes the flags for the rules of a checkpoint's blocks. */
function rulesOf({ hardfork }: Checkpoint): string[] {
  if (hardfork === undefined) return []
  return ['--hardfork', OPTIMISM[hardfork] ?? hardfork]
}

/** Number of blocks whose state a node keeps, as geth does unless it is an archive node. */
const STATES = 128
/**
 * Characters of a checkpoint's accounts up to which {@link STATES} are kept. A node keeps each state as a whole copy: states of this
 * size take some 300 MB together, and 2 ms a block. It is the size of some 1,500 end users with deposits.
 */
const LARGEST_STATE = 2_000_000

/** Number of states (at least 1) that a node keeps if it starts at a checkpoint whose accounts have so many characters. */
export function statesKept(characters: number): number {
  return characters <= LARGEST_STATE ? STATES : 1
}

/** State that callers from outside have in a node and no checkpoint keeps. It ends with the node, or when that is rewound. */
export class ForeignState {
  /** True if there is a snapshot, a filter or a setting: replacing the node would be noticed. */
  pinned = false
  /** True if there may be a setting that a rewind does not undo: only another node is without it. */
  altered = false
  /** True if the time of the next block was set. */
  timeSet = false
  /** Snapshots that callers from outside can go back to, by the number that they know, in decimal digits. */
  readonly snapshots = new Map<string, ForeignSnapshot>()
  /** Number of snapshots that they have taken: the node itself also counts those of its earlier uses. */
  taken = 0
}

/** A snapshot, and the place of the chain when it was taken. */
export interface ForeignSnapshot extends SnapshotPlace {
  /** The node's own id of it. */
  id: unknown
}

/** A place of the chain. */
export interface SnapshotPlace {
  height: number
  /** Number of changes that the service itself had made by then; it only grows. */
  ownChanges: number
}
