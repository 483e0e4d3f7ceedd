import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import type { SerialQueue } from '../../support/serial-queue.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { ChainWriter } from '../writing/chain-writer.ts'
import type { NodeRecycler } from '../writing/node-recycler.ts'

/** What quiet moments are used for. */
export interface QuietDeps {
  rpc: RpcClient
  reader: ChainReader
  writer: ChainWriter
  recycler: NodeRecycler
  clock: SandboxClock
  /** The producer's: quiet while nobody is in it. */
  queue: SerialQueue
  stopped(): boolean
}

/** Milliseconds between looks for transactions that others sent to the RPC, and for a moment to tidy in. */
const QUIET_POLL = 500

/** Mines what others sent and tidies up, while nothing else is to be done, until the producer is stopped. */
export async function useQuietMoments({
  rpc,
  reader,
  writer,
  recycler,
  clock,
  queue,
  stopped,
}: QuietDeps): Promise<void> {
  for (;;) {
    await clock.wallSleep(QUIET_POLL)
    if (stopped()) return
    if (!queue.idle) continue
    try {
      const { pending } = await rpc.call<{ pending: Hex }>('txpool_status')
      if (Number(pending) > 0 && queue.idle) await queue.run(() => writer.mine(reader.present))
      while (queue.idle && (await queue.run(() => writer.tidy())));
      if (queue.idle && recycler.due) await queue.run(() => recycler.run())
    } catch {
      // The client remembers the failure for the chain's status; the next look may succeed.
    }
  }
}
