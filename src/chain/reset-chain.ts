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

/** Milliseconds of real time that whatever is under way has to end by itself: a call of somebody may take many seconds. */
const GRACE_PERIOD_MS = 500

/**
 * Takes a chain back to where it began, whatever others did to its node; transfers under way are rejected. Tens of
 * milliseconds, up to a second when something must be cut off or the node cannot go back. Throws ChainUnavailableError.
 */
export async function resetChain(deps: ResetDeps, origin: Checkpoint): Promise<void> {
  const { producer, writer, archive, supervisor } = deps
  const hold = holdLater(deps)
  try {
    await producer.interrupt('it was reset', async () => {
      await writer.idle() // it may be archiving what is no more
      const cutOff = hold.release()
      await archive.clear()
      // Whatever was cut off, the node may still be at it.
      if (cutOff) await supervisor.replace({ checkpoint: origin, operations: [] })
      else await supervisor.rewind(origin)
      await workAgain(deps, origin)
    })
  } finally {
    hold.release()
  }
}

/** Ends what the node is still asked for after a while. */
function holdLater({ rpc, clock }: ResetDeps): { release(): boolean } {
  let over = false
  let end: (() => void) | undefined
  void clock.wallSleep(GRACE_PERIOD_MS).then(() => {
    if (!over) end = rpc.hold('it is being reset')
  })
  return {
    /** Lets calls be made again. Says whether some had been ended. */
    release() {
      over = true
      end?.()
      return end !== undefined
    },
  }
}

/** A block at the clock's present, on a node made anew should the one that went back not mine it. */
async function workAgain({ writer, reader, supervisor, log }: ResetDeps, origin: Checkpoint): Promise<void> {
  try {
    await writer.mine(reader.present)
  } catch (error) {
    log.warn({ err: error }, 'the chain does not work after the way back: it is built anew')
    await supervisor.replace({ checkpoint: origin, operations: [] })
    await writer.mine(reader.present)
  }
}
