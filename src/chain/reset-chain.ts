import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../support/logger.ts'
import type { BlockArchive } from './archive/block-archive.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import type { RpcClient } from './json-rpc/rpc-client.ts'
import type { NodeSupervisor } from './node/node-supervisor.ts'
import type { ChainReader } from './reading/chain-reader.ts'
import type { BlockProducer } from './rounds/block-producer.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

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
