import { keccak256, parseTransaction } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import { overBudget, TRANSACTION_GAS } from '../json-rpc/rpc-budget.ts'
import { type RpcCall, type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { ChainWriter, Refusals } from '../writing/chain-writer.ts'
import { readQuantity } from './capped-params.ts'

const UNDECODABLE = { code: -32602, reason: 'Failed to decode transaction' }
/** Anvil keeps a transaction without its blobs for ever, and mines nothing that comes after it for seconds. */
const BLOBS = { code: -32602, reason: 'transactions with blobs (type 3) are not taken' }

/**
 * Hands transactions from outside to the node's pool. Their gas is free, so its amount is limited: all waiting ones together fit
 * into a small part of a block, which leaves the rest to the next transfers. All methods must run in the producer's queue.
 */
export class ForeignPool {
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
