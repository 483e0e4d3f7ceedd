import type { SandboxClock } from '../domain/clock.ts'
import type { Hex } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import type { Lane } from './lane.ts'
import type { NodeRenewal } from './node-renewal.ts'
import type { Rpc } from './rpc.ts'

/** What quiet moments are used for. */
export interface QuietParts {
  rpc: Rpc
  state: ChainState
  writer: ChainWriter
  renewal: NodeRenewal
  clock: SandboxClock
  /** The producer's: quiet while nobody is in it. */
  lane: Lane
  stopped(): boolean
}

/** Milliseconds between looks for transactions that others sent to the RPC, and for a moment to tidy in. */
const QUIET_POLL = 500

/** Mines what others sent and tidies up, while nothing else is to be done, until the producer is stopped. */
export async function useQuietMoments({
  rpc,
  state,
  writer,
  renewal,
  clock,
  lane,
  stopped,
}: QuietParts): Promise<void> {
  for (;;) {
    await clock.wallSleep(QUIET_POLL)
    if (stopped()) return
    if (!lane.idle) continue
    try {
      const { pending } = await rpc.call<{ pending: Hex }>('txpool_status')
      if (Number(pending) > 0 && lane.idle) await lane.run(() => writer.mine(state.present))
      while (lane.idle && (await lane.run(() => writer.tidy())));
      if (lane.idle && renewal.due) await lane.run(() => renewal.run())
    } catch {
      // The client remembers the failure for the chain's status; the next look may succeed.
    }
  }
}
