import type { SandboxClock } from '../../domain/clock.ts'
import { BodyTooLargeError } from '../../support/read-body.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import { BATCH_CALLS, CALL_TIME } from '../json-rpc/rpc-budget.ts'
import { RpcError } from '../json-rpc/rpc-client.ts'
import {
  faultText,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcRequest,
  outcomeText,
  PARSE_ERROR,
  refusalText,
} from '../json-rpc/rpc-server.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import type { ChainWriter } from '../writing/chain-writer.ts'
import { Allowance, tooLong } from './allowance.ts'
import { isFixed, KnownBlocks, type KnownBlocksDeps, stateBlock } from './known-blocks.ts'
import { type ChangeDeps, canGoBack, OutsideChanges, SEND_RAW } from './outside-changes.ts'
import { type OutsideDeps, OutsideReads } from './outside-reads.ts'
import { isRead } from './rpc-methods.ts'

/**
 * The chain's JSON-RPC for clients outside, within a budget (rpc-budget.ts). Calls that may change the chain wait for their turn
 * in the producer's queue and run alone.
 */
export class RpcGateway {
  readonly #clock: SandboxClock
  readonly #producer: BlockProducer
  readonly #reads: OutsideReads
  readonly #changes: OutsideChanges
  readonly #heartbeat: Heartbeat
  readonly #blocks: KnownBlocks

  constructor(deps: GatewayDeps) {
    this.#clock = deps.clock
    this.#producer = deps.producer
    this.#blocks = new KnownBlocks(deps)
    this.#reads = new OutsideReads({ ...deps, blocks: this.#blocks })
    this.#changes = new OutsideChanges(deps, this.#reads)
    this.#heartbeat = new Heartbeat(deps)
  }

  /**
   * Carries out a request or a batch. A batch is carried out in order; each of its calls has an answer or an error of its own.
   * Throws ChainUnavailableError.
   * @param body parsed from JSON; undefined if it was not JSON
   * @returns JSON; undefined if there are only notifications
   */
  async answer(body: unknown): Promise<string | undefined> {
    if (body === undefined) return faultText(null, PARSE_ERROR)
    const requests: readonly unknown[] = Array.isArray(body) ? body : [body]
    if (requests.length === 0) return faultText(null, INVALID_REQUEST)
    if (requests.length > BATCH_CALLS) {
      return faultText(null, { ...INVALID_REQUEST, message: `more than ${BATCH_CALLS} calls, the limit of a batch` })
    }
    const answers = await this.#inOrder(requests, new Allowance(this.#clock, this.#producer.generation))
    const given = answers.filter((answer) => answer !== undefined)
    if (!Array.isArray(body)) return given[0]
    return given.length > 0 ? `[${given.join(',')}]` : undefined
  }

  async #inOrder(requests: readonly unknown[], allowance: Allowance): Promise<(string | undefined)[]> {
    const kinds = requests.map(kindOf)
    const answers: (string | undefined)[] = []
    while (answers.length < requests.length) {
      const start = answers.length
      const kind = kinds[start]
      let end = start + 1
      if (kind !== 'change') while (kinds[end] === kind) end++
      const run = requests.slice(start, end)
      if (kind === 'read') {
        const patience = this.#clock.wallSleep(CALL_TIME)
        if (!allowance.gaveUp) await this.#heartbeat.before(run)
        answers.push(...(await this.#reads.answer(run.map(this.#blocks.resolved), allowance, patience)))
      } else answers.push(...(await this.#inLane(run as JsonRpcRequest[], allowance)))
    }
    return answers
  }

  /** Carries out one change, or signed transactions that go into the pool together. */
  async #inLane(run: readonly JsonRpcRequest[], allowance: Allowance): Promise<(string | undefined)[]> {
    const [first] = run
    if (!first) return []
    try {
      allowance.check(first.method)
      if (first.method === SEND_RAW) return await this.#changes.send(run, allowance)
      const text = await outcomeText(first, () => this.#changes.make(first, allowance))
      return [text && allowance.spend(text)]
    } catch (error) {
      if (error instanceof BodyTooLargeError) return [refusalText(first, tooLong(first.method))]
      if (error instanceof RpcError) return run.map((request) => refusalText(request, error))
      throw error
    }
  }
}

/** Sorts a request; an invalid one is answered with the reads. */
function kindOf(request: unknown): 'read' | 'send' | 'change' {
  if (!isRequest(request) || isRead(request.method)) return 'read'
  return request.method === SEND_RAW ? 'send' : 'change'
}

export interface GatewayDeps extends ChangeDeps, Omit<OutsideDeps, 'blocks' | 'producer'>, KnownBlocksDeps {
  writer: ChainWriter
  supervisor: Pick<NodeSupervisor, 'foreign' | 'states'>
  archive: BlockArchive
  /** Milliseconds by which the clock must have moved on before another block is mined for a reader; default: a second. */
  blockTime?: number | undefined
}

/** Milliseconds that a read waits for a block, which in turn waits for running transfers. */
const BLOCK_TIMEOUT_MS = 1_000

/** Reads whose answer depends on the age of the latest block. */
const OF_LATEST = /^eth_(blockNumber|call|simulateV1|getBlockByNumber|getFilterChanges|feeHistory)$/

/**
 * Mines a block before the latest one is read if the clock has moved on by a block time since, so that the latest block agrees with
 * the API. Without reads, nothing is mined; nor while a snapshot can be reverted to, or the node's time was set from outside.
 */
class Heartbeat {
  readonly #deps: HeartbeatDeps

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  /** Resolves when the requests can be answered, after a second at most. If no block can be mined, the reads themselves report it. */
  async before(requests: readonly unknown[]): Promise<void> {
    if (this.#isDue() && requests.some(readsLatest)) await this.beat()
  }

  /** Mines a block if one is due. */
  async beat(): Promise<void> {
    const { writer, producer, supervisor, clock } = this.#deps
    const { foreign } = supervisor
    if (!this.#isDue() || foreign.timeSet) return
    if (canGoBack(foreign, { height: writer.height, ownChanges: producer.ownChanges })) return
    await Promise.race([producer.catchUp().catch(() => {}), clock.wallSleep(BLOCK_TIMEOUT_MS)])
  }

  #isDue(): boolean {
    const { reader, blockTime = 1_000 } = this.#deps
    return (reader.present - reader.latest) * 1000 >= blockTime
  }
}

function readsLatest(request: unknown): boolean {
  if (!isRequest(request) || !OF_LATEST.test(request.method)) return false
  const params = request.params ?? []
  return !isFixed(request.method === 'eth_getBlockByNumber' ? params[0] : stateBlock(request.method, params))
}

interface HeartbeatDeps {
  reader: Pick<ChainReader, 'present' | 'latest'>
  writer: Pick<ChainWriter, 'height'>
  producer: Pick<BlockProducer, 'catchUp' | 'ownChanges'>
  supervisor: Pick<NodeSupervisor, 'foreign'>
  clock: SandboxClock
  blockTime?: number | undefined
}
