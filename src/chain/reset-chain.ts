import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../domain/ports/logger.ts'
import type { BlockArchive } from './block-archive.ts'
import type { BlockProducer } from './block-producer.ts'
import type { ChainKeeper } from './chain-keeper.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Rpc } from './rpc.ts'

/** What a reset works on. */
export interface ResetParts {
  rpc: Rpc
  state: ChainState
  archive: BlockArchive
  writer: ChainWriter
  producer: BlockProducer
  keeper: Pick<ChainKeeper, 'rewind' | 'replace'>
  clock: SandboxClock
  log: Logger
}

/** Milliseconds of real time that whatever is under way has to end by itself: a call of somebody may take many seconds. */
const PATIENCE = 500

/**
 * Takes a chain back to where it began, whatever others did to its node; transfers under way are rejected. Tens of
 * milliseconds, up to a second when something must be cut off or the node cannot go back. Throws ChainUnavailableError.
 */
export async function resetChain(parts: ResetParts, origin: Checkpoint): Promise<void> {
  const { producer, writer, archive, keeper } = parts
  const hold = holdLater(parts)
  try {
    await producer.interrupt('it was reset', async () => {
      await writer.idle() // it may be archiving what is no more
      const cutOff = hold.release()
      await archive.clear()
      // Whatever was cut off, the node may still be at it.
      if (cutOff) await keeper.replace({ checkpoint: origin, operations: [] })
      else await keeper.rewind(origin)
      await workAgain(parts, origin)
    })
  } finally {
    hold.release()
  }
}

/** Ends what the node is still asked for after a while. */
function holdLater({ rpc, clock }: ResetParts): { release(): boolean } {
  let over = false
  let end: (() => void) | undefined
  void clock.wallSleep(PATIENCE).then(() => {
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
async function workAgain({ writer, state, keeper, log }: ResetParts, origin: Checkpoint): Promise<void> {
  try {
    await writer.mine(state.present)
  } catch (error) {
    log.warn({ err: error }, 'the chain does not work after the way back: it is built anew')
    await keeper.replace({ checkpoint: origin, operations: [] })
    await writer.mine(state.present)
  }
}
