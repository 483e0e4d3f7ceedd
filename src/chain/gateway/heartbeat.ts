import type { SandboxClock } from '../../domain/clock.ts'
import { isRequest } from '../json-rpc/json-rpc.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import type { ChainWriter } from '../writing/chain-writer.ts'
import { isFixed, stateBlock } from './known-blocks.ts'
import { canGoBack } from './snapshots.ts'

/** Milliseconds that a read waits for a block: transfers under way go before it. */
const BLOCK_TIMEOUT_MS = 1_000

/** Reads whose answer depends on how old the latest block is. */
const OF_LATEST = /^eth_(blockNumber|call|simulateV1|getBlockByNumber|getFilterChanges|feeHistory)$/

/**
 * Mines a block before somebody reads the latest one, if the clock has moved on by a second since: what the latest block says is
 * what the API shows. At rest, nothing is mined. Whoever took a snapshot, or set the node's time, has the chain to himself.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  /** Resolves when the requests can be answered, in a second at most. A chain that mines no block says so by itself. */
  async before(requests: readonly unknown[]): Promise<void> {
    const { reader } = this.#deps
    if (reader.present > reader.latest && requests.some(readsLatest)) await this.beat()
  }

  /** Mines a block if one is due. */
  async beat(): Promise<void> {
    const { reader, writer, producer, supervisor, clock } = this.#deps
    const { foreign } = supervisor
    if (reader.present <= reader.latest || foreign.timeSet) return
    if (canGoBack(foreign, { height: writer.height, ownChanges: producer.ownChanges })) return
    await Promise.race([producer.catchUp().catch(() => {}), clock.wallSleep(BLOCK_TIMEOUT_MS)])
  }
}

function readsLatest(request: unknown): boolean {
  if (!isRequest(request) || !OF_LATEST.test(request.method)) return false
  const params = request.params ?? []
  return !isFixed(request.method === 'eth_getBlockByNumber' ? params[0] : stateBlock(request.method, params))
}

export interface HeartbeatDeps {
  reader: Pick<ChainReader, 'present' | 'latest'>
  writer: Pick<ChainWriter, 'height'>
  producer: Pick<BlockProducer, 'catchUp' | 'ownChanges'>
  supervisor: Pick<NodeSupervisor, 'foreign'>
  clock: SandboxClock
}
