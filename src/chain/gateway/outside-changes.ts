import { keccak256, numberToHex, parseTransaction } from 'viem/utils'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import { invalidParams, MINED_BLOCKS, overBudget, TRANSACTION_BYTES, TRANSACTION_GAS } from '../json-rpc/rpc-budget.ts'
import { type RpcCall, type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'
import { type JsonRpcRequest, outcomeText } from '../json-rpc/rpc-server.ts'
import type { ForeignSnapshot, ForeignState, SnapshotPlace } from '../node/anvil-node.ts'
import type { NodeSupervisor } from '../node/node-supervisor.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { BlockProducer } from '../rounds/block-producer.ts'
import type { ChainWriter, Refusals } from '../writing/chain-writer.ts'
import { type Allowance, Turn } from './allowance.ts'
import { readQuantity } from './capped-params.ts'
import type { OutsideReads } from './outside-reads.ts'
import { isMine, miningOf, refusalOf, setsTime, staysInNode, takesSmallNumbers } from './rpc-methods.ts'

type Params = readonly unknown[]

const NOT_POSSIBLE = -32000
/** JSON-RPC's error code for a method that does not exist. */
const NOT_OFFERED = -32601
/** The only changing method whose consecutive calls are carried out together. */
export const SEND_RAW = 'eth_sendRawTransaction'
const MOST_SMALL = 2n ** 64n - 1n
/** Characters of 256 bits, in hexadecimal or decimal: millions of decimal digits would take seconds to read. */
const LONGEST_QUANTITY = 78

/** Carries out changes that are requested from outside, each in its {@link Turn}, within the budget of its request. */
export class OutsideChanges {
  readonly #deps: ChangeDeps
  readonly #reads: Pick<OutsideReads, 'filled'>
  readonly #pool: ForeignPool

  constructor(deps: ChangeDeps, reads: Pick<OutsideReads, 'filled'>) {
    this.#deps = deps
    this.#reads = reads
    this.#pool = new ForeignPool(deps)
  }

  /** Puts signed transactions that came together into the pool together. Throws RpcError when that takes too long. */
  async send(run: readonly JsonRpcRequest[], allowance: Allowance): Promise<(string | undefined)[]> {
    const turn = new Turn(SEND_RAW, allowance, this.#deps)
    const raws = run.map(rawTransactionIn)
    const sound = raws.filter((raw) => raw !== undefined)
    const broadcast = () => this.#pool.broadcast(SEND_RAW, sound)
    const refusals = sound.length > 0 ? await turn.inTime(turn.exclusive(broadcast)) : []
    let next = 0
    const refusalOf = raws.map((raw) => (raw === undefined ? undefined : refusals[next++]))
    return Promise.all(
      run.map((request, index) => outcomeText(request, async () => accepted(request, refusalOf[index]))),
    )
  }

  /** Carries out any other change, alone. Returns its result. Throws RpcError. */
  async make(request: JsonRpcRequest, allowance: Allowance): Promise<unknown> {
    const turn = new Turn(request.method, allowance, this.#deps)
    return turn.inTime(this.#make(request, turn))
  }

  async #make(request: JsonRpcRequest, turn: Turn): Promise<unknown> {
    const { method } = request
    const params = request.params ?? []
    const refusal = refusalOf(method)
    if (refusal !== undefined) throw new RpcError(method, NOT_OFFERED, refusal)
    if (takesSmallNumbers(method)) refuseLargeNumbers(method, params)
    if (method === 'eth_sendRawTransactionSync') return this.#mined(method, turn, () => this.#sendRaw(request))
    if (/^eth_send(Unsigned)?Transaction/.test(method)) return this.#sendUnsigned(method, params, turn)
    if (isMine(method)) return this.#mine(method, params, turn)
    return this.#foreign(method, params, turn)
  }

  #foreign(method: string, params: Params, turn: Turn): Promise<unknown> {
    const { producer, writer, supervisor } = this.#deps
    return turn.exclusive(async () => {
      const { foreign } = supervisor
      const place = { height: writer.height, ownChanges: producer.ownChanges }
      const key = snapshotKey(params[0])
      const taken = reverts(method) ? foreign.snapshots.get(key) : undefined
      if (reverts(method)) {
        if (!taken) return false
        const obstacle = obstacleToRevert(taken, place)
        if (obstacle !== undefined) throw new RpcError(method, NOT_POSSIBLE, obstacle)
      }
      if (staysInNode(method)) foreign.pinned = foreign.altered = true
      const result = await writer.foreign([method, ...(taken ? [taken.id] : params)])
      if (takesSnapshot(method)) return remember(foreign, { ...place, id: result })
      if (taken) foreign.snapshots.delete(key) // its id cannot be used again
      foreign.timeSet = setsTime(method) || (foreign.timeSet && !isMine(method))
      return result
    })
  }

  /** Mines blocks at the sandbox clock's time, unless this call or an earlier one has set the node's time. */
  async #mine(method: string, params: Params, turn: Turn): Promise<unknown> {
    const { writer, reader, supervisor } = this.#deps
    const { blocks, timed } = miningOf(method, params)
    if (!Number.isInteger(blocks) || blocks < 0 || blocks > MINED_BLOCKS) {
      throw invalidParams(method, `0 to ${MINED_BLOCKS} blocks can be mined at once`)
    }
    if (timed || supervisor.foreign.timeSet) return this.#foreign(method, params, turn)
    await turn.exclusive(async () => {
      for (let mined = 0; mined < blocks; mined++) {
        await writer.mine(reader.present)
        turn.step()
      }
    })
    return method === 'evm_mine' ? '0x0' : null
  }

  /**
   * Sends a transaction that the node signs. Of a synchronous method, the node gets the plain one: it would wait for a block, which
   * in turn would wait for this call.
   */
  async #sendUnsigned(method: string, params: Params, turn: Turn): Promise<unknown> {
    const filled = await this.#reads.filled(params)
    const send = (plain: string) => this.#pool.send(plain, filled)
    if (method.endsWith('Sync')) return this.#mined(method, turn, () => send(method.slice(0, -'Sync'.length)))
    return turn.exclusive(() => send(method))
  }

  async #sendRaw(request: JsonRpcRequest): Promise<Hex> {
    const raw = requireRaw(request)
    const [refusal] = await this.#pool.broadcast(request.method, [raw])
    return accepted(request, refusal)
  }

  /** Sends a transaction, mines it at once, and returns its receipt. */
  async #mined(method: string, turn: Turn, send: () => Promise<unknown>): Promise<unknown> {
    const { writer, reader, rpc } = this.#deps
    const hash = await turn.exclusive(async () => {
      const sent = await send()
      await writer.mine(reader.present)
      return sent
    })
    const receipt = await rpc.call('eth_getTransactionReceipt', hash)
    if (receipt !== null) return receipt
    throw new RpcError(method, NOT_POSSIBLE, `Transaction ${hash} was sent, but cannot be mined yet`)
  }
}

/** Throws RpcError for a number of more than 64 bits, which would crash the node. */
function refuseLargeNumbers(method: string, params: Params): void {
  const values = params.flatMap((param) => (typeof param === 'object' && param !== null ? Object.values(param) : param))
  for (const value of values) {
    if (typeof value !== 'string' || !/^(0x[0-9a-f]+|\d+)$/i.test(value)) continue
    if (value.length > LONGEST_QUANTITY || BigInt(value) > MOST_SMALL) {
      throw invalidParams(method, 'a number of at most 64 bits is expected')
    }
  }
}

function rawTransactionIn({ params }: JsonRpcRequest): Hex | undefined {
  const [raw] = params ?? []
  if (typeof raw !== 'string' || raw.length > 2 * TRANSACTION_BYTES || raw.length % 2 === 1) return undefined
  return /^0x[0-9a-f]+$/i.test(raw) ? (raw as Hex) : undefined
}

/** Reads the signed transaction of a request. Throws RpcError if it is malformed or too large. */
function requireRaw(request: JsonRpcRequest): Hex {
  const raw = rawTransactionIn(request)
  if (raw !== undefined) return raw
  throw invalidParams(request.method, 'a signed transaction in hexadecimal is expected, of less than 1 MiB')
}

/** @returns the hash of a transaction in the pool. Throws RpcError if it was malformed or refused */
function accepted(request: JsonRpcRequest, refusal: RpcError | undefined): Hex {
  const raw = requireRaw(request)
  if (refusal) throw refusal
  return keccak256(raw)
}

export interface ChangeDeps {
  rpc: RpcClient
  reader: ChainReader
  writer: ChainWriter
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'foreign'>
  clock: SandboxClock
}

/** Limit on the blocks that can be taken back: Anvil does not keep the states of many more. */
const MOST_BLOCKS = 30

/** @returns true if a method takes a snapshot for `evm_revert` */
function takesSnapshot(method: string): boolean {
  return /^(evm|anvil)_snapshot$/.test(method)
}

function reverts(method: string): boolean {
  return /^(evm|anvil)_revert$/.test(method)
}

/** Remembers a snapshot. Returns the id that its caller gets. */
function remember(foreign: ForeignState, snapshot: ForeignSnapshot): Hex {
  foreign.taken++
  foreign.snapshots.set(String(foreign.taken), snapshot)
  return numberToHex(foreign.taken)
}

/**
 * Checks a revert. The chain must keep the changes that the service itself has made since the snapshot: they are in its ledger.
 * @returns the reason why the chain must not go back to a snapshot; undefined if it may
 */
function obstacleToRevert(taken: SnapshotPlace, now: SnapshotPlace): string | undefined {
  if (taken.ownChanges !== now.ownChanges) {
    return 'the service has moved funds since that snapshot, and its ledger says so: POST /_sandbox/reset takes back both'
  }
  if (now.height - taken.height > MOST_BLOCKS) return `no more than ${MOST_BLOCKS} blocks can be taken back`
  return undefined
}

/** @returns true if the chain may still go back to some snapshot; blocks that the service mines would prevent that */
export function canGoBack(foreign: ForeignState, now: SnapshotPlace): boolean {
  return [...foreign.snapshots.values()].some((taken) => obstacleToRevert(taken, now) === undefined)
}

/** @returns a snapshot's id in decimal digits, whatever its notation; empty if it is not a number */
function snapshotKey(id: unknown): string {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id)
  return typeof id === 'string' && /^(0x[0-9a-f]{1,16}|\d{1,16})$/i.test(id) ? BigInt(id).toString() : ''
}

const UNDECODABLE = { code: -32602, reason: 'Failed to decode transaction' }
/** Anvil keeps a transaction without its blobs for ever, and mines nothing that comes after it for seconds. */
const BLOBS = { code: -32602, reason: 'transactions with blobs (type 3) are not taken' }

/**
 * Hands transactions from outside to the node's pool. Their gas is free, so its amount is limited: all waiting ones together fit
 * into a small part of a block, which leaves the rest to the next transfers. All methods must run in the producer's queue.
 */
class ForeignPool {
  readonly #deps: ForeignDeps
  /** Gas by hash, of the transactions that are in the pool, or were when it was last checked. */
  readonly #gas = new Map<Hex, bigint>()

  constructor(deps: ForeignDeps) {
    this.#deps = deps
  }

  /**
   * Sends signed transactions, as many together as there is room for.
   * @returns for each transaction in order the error, or undefined if it was accepted
   */
  async broadcast(method: string, raws: readonly Hex[]): Promise<Refusals> {
    const refusals: Refusals = []
    const waiting: Hex[] = []
    const send = async () => {
      if (waiting.length > 0) refusals.push(...(await this.#deps.writer.broadcast(waiting.splice(0))))
    }
    for (const raw of raws) {
      try {
        const gas = gasIn(method, raw)
        await this.#makeRoom(method, gas, send)
        waiting.push(raw)
        this.#gas.set(keccak256(raw), gas)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        await send()
        refusals.push(error)
      }
    }
    await send()
    return refusals
  }

  /** Sends a transaction that the node signs. Returns its hash. Throws RpcError. */
  async send(method: string, params: readonly unknown[]): Promise<unknown> {
    const transaction = Object(params[0]) as { gas?: unknown }
    refuseBlobs(method, transaction)
    const { gas } = transaction
    const given = readQuantity(method, 'gas', gas ?? 0)
    await this.#makeRoom(method, given, async () => {})
    const hash = (await this.#deps.writer.foreign([method, ...params])) as Hex
    this.#gas.set(hash, given)
    return hash
  }

  /** Makes room for a transaction in the pool: subtracts those mined meanwhile, then mines the rest. Throws RpcError if it does not fit. */
  async #makeRoom(method: string, gas: bigint, sent: () => Promise<void>): Promise<void> {
    const { writer, reader } = this.#deps
    if (gas > TRANSACTION_GAS)
      throw overBudget(method, `the transaction has more than ${TRANSACTION_GAS} gas, the limit of one`)
    if (this.#fits(gas)) return
    await sent()
    await this.#recount()
    if (this.#fits(gas)) return
    await writer.mine(reader.present)
    await this.#recount()
    if (!this.#fits(gas)) {
      throw overBudget(
        method,
        `transactions that cannot be mined yet have more than ${TRANSACTION_GAS} gas, the limit of all that wait`,
      )
    }
  }

  #fits(gas: bigint): boolean {
    return [...this.#gas.values()].reduce((sum, other) => sum + other, gas) <= TRANSACTION_GAS
  }

  /** Forgets the transactions that have left the pool. */
  async #recount(): Promise<void> {
    const hashes = [...this.#gas.keys()]
    const found = await this.#deps.rpc.settle(hashes.map((hash): RpcCall => ['eth_getTransactionByHash', hash]))
    for (const [index, hash] of hashes.entries()) {
      const { blockHash } = Object(found[index]) as { blockHash?: Hex | null }
      if (blockHash !== null) this.#gas.delete(hash)
    }
  }
}

/** Reads the gas of a signed transaction. Throws RpcError if it cannot be decoded or has blobs. */
function gasIn(method: string, raw: Hex): bigint {
  if (raw.startsWith('0x03')) throw new RpcError(method, BLOBS.code, BLOBS.reason)
  try {
    return parseTransaction(raw).gas ?? 0n
  } catch {
    throw new RpcError(method, UNDECODABLE.code, UNDECODABLE.reason)
  }
}

/** Throws RpcError if a transaction that the node is to sign has blobs. */
function refuseBlobs(method: string, transaction: object): void {
  const type = 'type' in transaction ? transaction.type : undefined
  const named = ['blobVersionedHashes', 'blobs', 'sidecar', 'maxFeePerBlobGas'].some(
    (name) => ((transaction as Record<string, unknown>)[name] ?? undefined) !== undefined,
  )
  if (named || (typeof type === 'string' && /^0x0*3$/i.test(type)) || type === 3) {
    throw new RpcError(method, BLOBS.code, BLOBS.reason)
  }
}

/** Dependencies of a {@link ForeignPool}. */
export interface ForeignDeps {
  rpc: RpcClient
  reader: ChainReader
  writer: ChainWriter
}
