import { keccak256 } from 'viem/utils'
import type { Hex } from '../domain/records.ts'
import type { BlockArchive } from './block-archive.ts'
import type { BlockProducer } from './block-producer.ts'
import type { ChainKeeper } from './chain-keeper.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import {
  faultText,
  INVALID_REQUEST,
  isRequest,
  type JsonRpcRequest,
  outcomeText,
  PARSE_ERROR,
  resultText,
} from './json-rpc.ts'
import { logsAcross, reachesArchive } from './log-range.ts'
import { refusalOf } from './refused-methods.ts'
import { type Rpc, RpcError } from './rpc.ts'
import { blocksToMine, isMine, isRead, setsTime, staysInNode } from './rpc-methods.ts'
import { obstacleToRevert, remember, reverts, takesSnapshot } from './snapshots.ts'

/** What a gateway works with. */
export interface GatewayParts {
  rpc: Rpc
  archive: BlockArchive
  state: ChainState
  writer: ChainWriter
  producer: BlockProducer
  keeper: Pick<ChainKeeper, 'foreign'>
}

/** How a request is carried out. */
type Kind = 'read' | 'logs' | 'send' | 'change'

/** Blocks that one call may mine; more are refused, since transfers wait meanwhile. */
const MAX_BLOCKS = 1000

const INVALID_PARAMS = -32602
const NOT_MINED = -32000
/** JSON-RPC's own word for a method that is not there. */
const NOT_OFFERED = -32601

/**
 * The chain's JSON-RPC for everybody outside. What the node has forgotten comes from the archive, other reads go to the
 * node as they are, and whatever may change the chain waits its turn in the producer's lane, alone.
 */
export class RpcGateway {
  readonly #parts: GatewayParts

  constructor(parts: GatewayParts) {
    this.#parts = parts
  }

  /**
   * Answers a request or a batch, parsed from JSON (undefined if it was none), with JSON; with nothing if nobody wants an
   * answer. A batch is carried out in order, consecutive reads in one round trip. Throws ChainUnavailableError.
   */
  async answer(body: unknown): Promise<string | undefined> {
    if (body === undefined) return faultText(null, PARSE_ERROR)
    const requests: readonly unknown[] = Array.isArray(body) ? body : [body]
    if (requests.length === 0) return faultText(null, INVALID_REQUEST)
    const known = await Promise.all(requests.map((request) => this.#known(request)))
    const kinds = requests.map((request, index) => (known[index] === undefined ? this.#kindOf(request) : 'read'))
    // The usual case: what the node says is passed on unread, however long it is.
    if (kinds.every((kind, index) => kind === 'read' && known[index] === undefined)) {
      return (await this.#relay(requests as JsonRpcRequest[], body)) || undefined
    }
    const answers = await this.#inOrder(requests as JsonRpcRequest[], kinds, known)
    const given = answers.filter((answer) => answer !== undefined)
    if (!Array.isArray(body)) return given[0]
    return given.length > 0 ? `[${given.join(',')}]` : undefined
  }

  /** What can be answered without the node. */
  async #known(request: unknown): Promise<string | undefined> {
    if (!isRequest(request)) return faultText(request, INVALID_REQUEST)
    if (request.id === undefined) return undefined
    const answer = await this.#parts.archive.answer(request.method, request.params ?? [])
    return answer === undefined ? undefined : resultText(request, answer)
  }

  #kindOf(request: unknown): Kind {
    const { method, params } = request as JsonRpcRequest
    if (method === 'eth_getLogs' && reachesArchive(params?.[0], this.#parts.archive)) return 'logs'
    if (method === 'eth_sendRawTransaction') return 'send'
    return isRead(method) ? 'read' : 'change'
  }

  async #inOrder(
    requests: readonly JsonRpcRequest[],
    kinds: readonly Kind[],
    known: readonly (string | undefined)[],
  ): Promise<(string | undefined)[]> {
    const answers: (string | undefined)[] = []
    while (answers.length < requests.length) {
      const start = answers.length
      const kind = kinds[start]
      let end = start + 1
      if (kind === 'read' || kind === 'send') while (kinds[end] === kind) end++
      const run = requests.slice(start, end)
      if (kind === 'read') answers.push(...(await this.#read(run, known.slice(start, end))))
      else if (kind === 'send') answers.push(...(await this.#send(run)))
      else for (const request of run) answers.push(await outcomeText(request, () => this.#alone(request, kind)))
    }
    return answers
  }

  /** Those not known are asked in one round trip. */
  async #read(run: readonly JsonRpcRequest[], known: readonly (string | undefined)[]): Promise<(string | undefined)[]> {
    const asked = run.filter((_, index) => known[index] === undefined)
    const text = asked.length > 0 ? await this.#relay(asked) : ''
    const answers = (text === '' ? [] : JSON.parse(text)) as unknown[]
    return run.map((request, index) => {
      if (known[index] !== undefined || request.id === undefined) return known[index]
      return JSON.stringify(answers.shift())
    })
  }

  #relay(reads: readonly JsonRpcRequest[], body: unknown = reads): Promise<string> {
    if (reads.some(({ method }) => staysInNode(method))) this.#parts.keeper.foreign.pinned = true
    return this.#parts.rpc.relay(JSON.stringify(body))
  }

  #alone(request: JsonRpcRequest, kind: Kind | undefined): Promise<unknown> {
    if (kind !== 'logs') return this.#change(request)
    return logsAcross(request.params?.[0] as object, this.#parts.archive, this.#parts.rpc)
  }

  /** Transactions that came together go into the pool together. */
  async #send(run: readonly JsonRpcRequest[]): Promise<(string | undefined)[]> {
    const { producer, writer } = this.#parts
    const raws = run.map(rawTransactionIn)
    const sound = raws.filter((raw) => raw !== undefined)
    const refusals = sound.length > 0 ? await producer.exclusive(() => writer.broadcast(sound)) : []
    let next = 0
    const refusalOf = raws.map((raw) => (raw === undefined ? undefined : refusals[next++]))
    return Promise.all(
      run.map((request, index) => outcomeText(request, async () => accepted(request, refusalOf[index]))),
    )
  }

  async #change(request: JsonRpcRequest): Promise<unknown> {
    const { producer, writer, keeper } = this.#parts
    const { method, params } = request
    const given = params ?? []
    const refusal = refusalOf(method)
    if (refusal !== undefined) throw new RpcError(method, NOT_OFFERED, refusal)
    if (method === 'eth_sendRawTransactionSync') return this.#sendAndMine(request)
    // The node would wait for the block, and the block for this call.
    if (method === 'eth_sendTransactionSync') return this.#sendAndMine({ ...request, method: 'eth_sendTransaction' })
    const blocks = isMine(method) && !keeper.foreign.timeSet ? blocksToMine(method, given) : undefined
    if (blocks !== undefined) return this.#mine(method, blocks)
    return producer.exclusive(async () => {
      const { foreign } = keeper
      const place = { height: writer.height, ownChanges: producer.ownChanges }
      if (reverts(method)) {
        const obstacle = obstacleToRevert(foreign, given[0], place)
        if (obstacle === 'unknown') return false
        if (obstacle !== undefined) throw new RpcError(method, NOT_MINED, obstacle)
      }
      if (staysInNode(method)) foreign.pinned = foreign.altered = true
      const result = await writer.foreign([method, ...given])
      if (takesSnapshot(method)) remember(foreign, result, place)
      foreign.timeSet = setsTime(method) || (foreign.timeSet && !isMine(method))
      return result
    })
  }

  /** Blocks at the sandbox clock's time, where the node would take its own. */
  async #mine(method: string, blocks: number): Promise<string | null> {
    const { producer, writer, state } = this.#parts
    if (!Number.isInteger(blocks) || blocks < 0 || blocks > MAX_BLOCKS) {
      throw new RpcError(method, INVALID_PARAMS, `Invalid params: 0 to ${MAX_BLOCKS} blocks can be mined at once`)
    }
    await producer.exclusive(async () => {
      for (let mined = 0; mined < blocks; mined++) await writer.mine(state.present)
    })
    return method === 'evm_mine' ? '0x0' : null
  }

  async #sendAndMine(request: JsonRpcRequest): Promise<unknown> {
    const { producer, writer, state, rpc } = this.#parts
    const raw = request.method === 'eth_sendTransaction' ? undefined : requireRaw(request)
    const hash = await producer.exclusive(async () => {
      const [refusal] = raw === undefined ? [] : await writer.broadcast([raw])
      if (refusal) throw refusal
      const sent =
        raw === undefined ? await writer.foreign([request.method, ...(request.params ?? [])]) : keccak256(raw)
      await writer.mine(state.present)
      return sent
    })
    const receipt = await rpc.call('eth_getTransactionReceipt', hash)
    if (receipt === null)
      throw new RpcError(request.method, NOT_MINED, `Transaction ${hash} was sent, but cannot be mined yet`)
    return receipt
  }
}

function rawTransactionIn({ params }: JsonRpcRequest): Hex | undefined {
  const [raw] = params ?? []
  return typeof raw === 'string' && /^0x([0-9a-f]{2})+$/i.test(raw) ? (raw as Hex) : undefined
}

/** Throws RpcError. */
function requireRaw(request: JsonRpcRequest): Hex {
  const raw = rawTransactionIn(request)
  if (raw !== undefined) return raw
  throw new RpcError(request.method, INVALID_PARAMS, 'Invalid params: a signed transaction in hexadecimal is expected')
}

/** The hash of a transaction in the pool. Throws RpcError if it was not sound, or refused. */
function accepted(request: JsonRpcRequest, refusal: RpcError | undefined): Hex {
  const raw = requireRaw(request)
  if (refusal) throw refusal
  return keccak256(raw)
}
