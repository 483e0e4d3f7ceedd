import type { ChainSetup } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { Hex } from '../domain/records.ts'
import type { Logger } from '../support/logger.ts'
import type { BlockArchive } from './archive/block-archive.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import type { RpcClient } from './json-rpc/rpc-client.ts'
import type { NodeSupervisor } from './node/node-supervisor.ts'
import type { ChainReader } from './reading/chain-reader.ts'
import type { BlockProducer } from './rounds/block-producer.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

export interface RestDeps {
  setup: Pick<ChainSetup, 'fork'>
  rpc: RpcClient
  writer: ChainWriter
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'foreign'>
}

/** Conditions for a chain to rest. */
export interface RestTerms {
  /** True if foreign state that only the node has may be lost: a filter, a snapshot, a setting, a transaction that cannot be mined yet. */
  forgetting: boolean
  /** @returns true if the chain is needed after all */
  wanted(): boolean
}

/**
 * Ends a chain's work by `end` if its journal and archive are complete, or can be completed. Throws ChainUnavailableError; the chain
 * then stays awake.
 * @returns false if the chain stays awake, since it is needed or foreign state in its node would be lost
 */
export function restChain(
  { setup, rpc, writer, producer, supervisor }: RestDeps,
  { forgetting, wanted }: RestTerms,
  end: () => Promise<void>,
): Promise<boolean> {
  return producer.exclusive(async () => {
    const { pending, queued } = await rpc.call<{ pending: Hex; queued: Hex }>('txpool_status')
    if (Number(pending) > 0) return false // they are mined within half a second
    if (!forgetting && (Number(queued) > 0 || supervisor.foreign.pinned)) return false
    await keepAll({ setup, writer })
    if (wanted()) return false
    await end()
    return true
  })
}

/**
 * Completes journal and archive, so that the node has no state of its own. The caller must have the chain to itself. The state that
 * a fork has read so far is kept as well: the real chain's nodes may not have it any more when the journal is repeated.
 */
export async function keepAll({ setup, writer }: Pick<RestDeps, 'setup' | 'writer'>): Promise<void> {
  await writer.reconcile()
  if (writer.changedByOthers || setup.fork) await writer.checkpoint()
  await writer.idle()
}

export interface ResetDeps {
  rpc: RpcClient
  reader: ChainReader
  archive: BlockArchive
  writer: ChainWriter
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'rewind' | 'replace'>
  clock: SandboxClock
  log: Logger
}

/** Milliseconds of real time for running work to end by itself: a call from outside may take many seconds. */
const GRACE_PERIOD_MS = 500

/**
 * Takes a chain back to its first checkpoint, whatever was done to its node from outside; running transfers are rejected. Takes tens
 * of milliseconds, or up to a second if work must be cut off or the node cannot go back. Throws ChainUnavailableError.
 */
export async function resetChain(deps: ResetDeps, origin: Checkpoint): Promise<void> {
  const { producer, writer, archive, supervisor } = deps
  const hold = holdLater(deps)
  try {
    await producer.interrupt('it was reset', async () => {
      await writer.idle() // it may be archiving blocks that will no longer exist
      const cutOff = hold.release()
      await archive.clear()
      // The node may still be working on a call that was cut off.
      if (cutOff) await supervisor.replace({ checkpoint: origin, operations: [] })
      else await supervisor.rewind(origin)
      await workAgain(deps, origin)
    })
  } finally {
    hold.release()
  }
}

/** Cuts off the calls that are still running after {@link GRACE_PERIOD_MS}. */
function holdLater({ rpc, clock }: ResetDeps): { release(): boolean } {
  let over = false
  let end: (() => void) | undefined
  void clock.wallSleep(GRACE_PERIOD_MS).then(() => {
    if (!over) end = rpc.hold('it is being reset')
  })
  return {
    /**
     * Allows calls again.
     * @returns true if running ones may have been cut off
     */
    release() {
      over = true
      end?.()
      return end !== undefined
    },
  }
}

/** Mines a block at the clock's present; if the node that went back cannot, replaces it first. */
async function workAgain({ writer, reader, supervisor, log }: ResetDeps, origin: Checkpoint): Promise<void> {
  try {
    await writer.mine(reader.present)
  } catch (error) {
    log.warn({ err: error }, 'the chain does not work after the way back: it is built anew')
    await supervisor.replace({ checkpoint: origin, operations: [] })
    await writer.mine(reader.present)
  }
}
