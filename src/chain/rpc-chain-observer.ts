import {
  type ChainObserver,
  type Chains,
  ChainUnavailableError,
  ChainUnsoundError,
  type TransactionOutcome,
} from '../domain/ports/chain.ts'
import type { Address, Hex, Pool } from '../domain/records.ts'
import { type RpcCall, RpcError, unsound } from './json-rpc/rpc-client.ts'
import { protocolsByName } from './markets/protocols/index.ts'
import { balanceOf, type Protocol } from './markets/protocols/protocol.ts'
import { BatchLoader, MOST_VIEWS, multicall, outcomesOf, type View, type ViewOutcome } from './reading/multicall.ts'
import type { Read, Reader } from './reading/view.ts'

/** Limits on receipts, and on calls of many views each, in one round trip; further round trips leave the node time for other calls. */
const MAX_BATCH = 2000
const MAX_CALLS = 8

/**
 * Reads from the nodes directly, past the caches and the chain's queue. The reads of one turn of the event loop share a round
 * trip.
 */
export class RpcChainObserver implements ChainObserver {
  readonly #chains: Chains
  readonly #protocols: ReadonlyMap<string, Protocol>
  readonly #receipts = new Map<string, BatchLoader<Hex, unknown>>()
  readonly #views = new Map<string, BatchLoader<View, ViewOutcome>>()

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
    const [answer] = await this.#receiptsOf(chainId).load([hash])
    if (answer instanceof RpcError) throw unsound(chainId, answer)
    const receipt = answer as { status: Hex } | null
    if (!receipt) return this.#chains.get(chainId)?.outcome(hash) ?? 'unknown' // archived meanwhile, or not mined
    return Number(receipt.status) === 1 ? 'success' : 'reverted'
  }

  async #read<Result>(chainId: string, { to, data, decode }: Read<Result>): Promise<Result> {
    const [output] = await this.#viewsOf(chainId).load([{ to, data }])
    if (output === undefined || output instanceof RpcError) throw unsound(chainId, output)
    try {
      return decode(output)
    } catch (error) {
      throw new ChainUnsoundError(chainId, `${to} gave no answer that makes sense`, { cause: error })
    }
  }

  #receiptsOf(chainId: string): BatchLoader<Hex, unknown> {
    return loaderIn(this.#receipts, chainId, (hashes) => {
      const calls = hashes.map((hash): RpcCall => ['eth_getTransactionReceipt', hash])
      return this.#send(chainId, calls, MAX_BATCH)
    })
  }

  /** Reads many views in one call, which limits the return data of each: a contract may have been replaced from outside. */
  #viewsOf(chainId: string): BatchLoader<View, ViewOutcome> {
    return loaderIn(this.#views, chainId, async (views) => {
      const parts = Array.from({ length: Math.ceil(views.length / MOST_VIEWS) }, (_, part) =>
        views.slice(part * MOST_VIEWS, (part + 1) * MOST_VIEWS),
      )
      const calls = parts.map((part) => multicall(part))
      const answers = await this.#send(chainId, calls, MAX_CALLS)
      return parts.flatMap((part, i) => {
        const answer = answers[i]
        return answer instanceof RpcError ? part.map(() => answer) : outcomesOf(answer as Hex, part.length)
      })
    })
  }

  async #send(chainId: string, calls: readonly RpcCall[], most: number): Promise<unknown[]> {
    const chain = this.#chains.get(chainId)
    if (!chain) throw new ChainUnavailableError(chainId, 'there is no such chain')
    const answers: unknown[] = []
    for (let at = 0; at < calls.length; at += most) answers.push(...(await chain.ask(calls.slice(at, at + most))))
    return answers
  }
}

function loaderIn<Key, Result>(
  loaders: Map<string, BatchLoader<Key, Result>>,
  chainId: string,
  load: (keys: readonly Key[]) => Promise<Result[]>,
): BatchLoader<Key, Result> {
  const loader = loaders.get(chainId) ?? new BatchLoader<Key, Result>(JSON.stringify, load)
  loaders.set(chainId, loader)
  return loader
}
