import { type Chains, ChainUnavailableError, ChainUnsoundError } from '../domain/ports/chain.ts'
import type { ChainObserver, TransactionOutcome } from '../domain/ports/chain-observer.ts'
import type { Address, Hex, Pool } from '../domain/records.ts'
import { BatchLoader } from './json-rpc/batch-loader.ts'
import { type RpcCall, RpcError } from './json-rpc/rpc-client.ts'
import { unsound } from './json-rpc/senseless-answer.ts'
import { balanceOf } from './markets/protocols/erc20.ts'
import { protocolsByName } from './markets/protocols/index.ts'
import type { Protocol } from './markets/protocols/protocol.ts'
import type { Read, Reader } from './reading/view.ts'

/** Calls in one round trip; more than these go one after the other, to leave the node time for others. */
const MAX_BATCH = 2000

/**
 * Asks the nodes themselves, past everything that is cached or in the chain's queue. What is asked within one turn of the
 * event loop shares a round trip.
 */
export class RpcChainObserver implements ChainObserver {
  readonly #chains: Chains
  readonly #protocols: ReadonlyMap<string, Protocol>
  readonly #batches = new Map<string, BatchLoader<RpcCall, unknown>>()

  constructor({ chains, protocols }: { chains: Chains; protocols: readonly [string, string] }) {
    this.#chains = chains
    this.#protocols = protocolsByName(protocols)
  }

  async balance(chainId: string, token: Address, wallet: Address): Promise<bigint> {
    return this.#read(chainId, balanceOf(token, wallet))
  }

  async holding(pool: Pool, wallet: Address): Promise<bigint> {
    const protocol = this.#protocols.get(pool.protocol)
    if (!protocol) throw new Error(`pool ${pool.pool_id} names an unknown protocol: ${pool.protocol}`)
    const read = (reads: readonly Read<unknown>[]) => Promise.all(reads.map((one) => this.#read(pool.chain_id, one)))
    return protocol.shares(read as Reader, pool, wallet)
  }

  async outcome(chainId: string, hash: Hex): Promise<TransactionOutcome> {
    const archived = this.#chains.get(chainId)?.outcome(hash)
    if (archived) return archived
    const receipt = (await this.#ask(chainId, ['eth_getTransactionReceipt', hash])) as { status: Hex } | null
    if (!receipt) return this.#chains.get(chainId)?.outcome(hash) ?? 'unknown' // archived meanwhile, or not mined
    return Number(receipt.status) === 1 ? 'success' : 'reverted'
  }

  async #read<Result>(chainId: string, { to, data, decode }: Read<Result>): Promise<Result> {
    const output = (await this.#ask(chainId, ['eth_call', { to, data }, 'latest'])) as Hex
    try {
      return decode(output)
    } catch (error) {
      throw new ChainUnsoundError(chainId, `${to} gave no answer that makes sense`, { cause: error })
    }
  }

  async #ask(chainId: string, call: RpcCall): Promise<unknown> {
    let batches = this.#batches.get(chainId)
    if (!batches) {
      batches = new BatchLoader<RpcCall, unknown>(JSON.stringify, (calls) => this.#send(chainId, calls))
      this.#batches.set(chainId, batches)
    }
    const [answer] = await batches.load([call])
    if (answer instanceof RpcError) throw unsound(chainId, answer)
    return answer
  }

  async #send(chainId: string, calls: readonly RpcCall[]): Promise<unknown[]> {
    const chain = this.#chains.get(chainId)
    if (!chain) throw new ChainUnavailableError(chainId, 'there is no such chain')
    const answers: unknown[] = []
    for (let at = 0; at < calls.length; at += MAX_BATCH) {
      answers.push(...(await chain.ask(calls.slice(at, at + MAX_BATCH))))
    }
    return answers
  }
}
