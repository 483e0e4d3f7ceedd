import type { SandboxClock } from '../domain/clock.ts'
import { isFixed, stateBlock } from './block-parameter.ts'
import type { BlockProducer } from './block-producer.ts'
import type { ChainKeeper } from './chain-keeper.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import { isRequest } from './json-rpc.ts'
import { canGoBack } from './snapshots.ts'

/** What a heartbeat works with. */
export interface HeartbeatParts {
  state: Pick<ChainState, 'present' | 'latest'>
  writer: Pick<ChainWriter, 'height'>
  producer: Pick<BlockProducer, 'catchUp' | 'ownChanges'>
  keeper: Pick<ChainKeeper, 'foreign'>
  clock: SandboxClock
}

/** Milliseconds that a read waits for a block: transfers under way go before it. */
const PATIENCE = 1_000

/** Reads whose answer depends on how old the latest block is. */
const OF_LATEST = /^eth_(blockNumber|call|simulateV1|getBlockByNumber|getFilterChanges|feeHistory)$/

/**
 * Mines a block before somebody reads the latest one, if the clock has moved on by a second since: what the latest block says is
 * what the API shows. At rest, nothing is mined. Whoever took a snapshot, or set the node's time, has the chain to himself.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
  }

  /** Resolves when the requests can be answered, in a second at most. A chain that mines no block says so by itself. */
  async before(requests: readonly unknown[]): Promise<void> {
    const { state } = this.#parts
    if (state.present > state.latest && requests.some(readsLatest)) await this.beat()
  }

  /** Mines a block if one is due. */
  async beat(): Promise<void> {
    const { state, writer, producer, keeper, clock } = this.#parts
    const { foreign } = keeper
    if (state.present <= state.latest || foreign.timeSet) return
    if (canGoBack(foreign, { height: writer.height, ownChanges: producer.ownChanges })) return
    await Promise.race([producer.catchUp().catch(() => {}), clock.wallSleep(PATIENCE)])
  }
}

function readsLatest(request: unknown): boolean {
  if (!isRequest(request) || !OF_LATEST.test(request.method)) return false
  const params = request.params ?? []
  return !isFixed(request.method === 'eth_getBlockByNumber' ? params[0] : stateBlock(request.method, params))
}
