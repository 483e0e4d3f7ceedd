import type { SandboxClock } from '../domain/clock.ts'
import type { Logger } from '../domain/ports/logger.ts'
import type { Call, Rpc } from './rpc.ts'

/** What is watched. */
export interface WatchedChain {
  chainId: string
  rpc: Rpc
  clock: SandboxClock
  log: Logger
  /** Whether it is not to be watched any more. */
  stopped(): boolean
  /** The present node; another one has all the time again. */
  node(): unknown
  /** Called when the node hangs. */
  hangs(): void
}

/** Milliseconds without an answer after which an Anvil is taken for hung. */
const HANG_PATIENCE = 10_000
/** Milliseconds between looks whether it hangs. */
const PROBE_PAUSE = 1_000
/**
 * What it is asked. It needs the state: of a node whose state is kept busy by a call, so that no block can be mined, all
 * else is answered. (A block that waits goes before later questions, so they wait with it.)
 */
const PROBE: Call = ['eth_getBalance', '0x0000000000000000000000000000000000000000', 'latest']

/** Asks a chain's node now and then whether it still answers, until the chain is stopped. */
export async function watchForHang(chain: WatchedChain): Promise<void> {
  const { chainId, rpc, clock, log } = chain
  let silentSince: number | undefined
  while (!chain.stopped()) {
    await clock.wallSleep(PROBE_PAUSE)
    const asked = clock.wallNow()
    const watched = chain.node()
    const failures = rpc.upstreamFailures
    try {
      if (!rpc.held) await rpc.settle([PROBE])
      silentSince = undefined
    } catch {
      // A fork's node that tells of its upstream is not silent.
      const excused = rpc.held || watched !== chain.node() || rpc.upstreamFailures > failures
      silentSince = excused ? undefined : (silentSince ?? asked)
      if (silentSince === undefined || clock.wallNow() - silentSince < HANG_PATIENCE) continue
      log.error({ chain_id: chainId }, 'the chain hangs: it is killed')
      chain.hangs()
    }
  }
}
