import { numberToHex } from 'viem/utils'
import type { Hex } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import { type Call, type Rpc, RpcError } from './rpc.ts'

/** Who is paid for a block otherwise. */
const NOBODY = numberToHex(0, { size: 20 })

/** Why transactions were not taken, in their order; undefined for those that were. */
export type Refusals = (RpcError | undefined)[]

interface Block {
  number: Hex
  parentHash: Hex
  timestamp: Hex
  miner: Hex
  /** Hashes. */
  transactions: Hex[]
}

/**
 * The only way anything on the chain is changed: transactions, blocks and cheats, strictly one after another (the block
 * producer's lane sees to that). What passes here in this order, replayed onto the base state, makes the same chain
 * again: it is the place for a journal.
 */
export class ChainWriter {
  readonly #rpc: Rpc
  readonly #state: ChainState
  /** What was changed directly, batch by batch, and directly after which block: it is no part of any. */
  #cheats: { block: Hex; calls: readonly Call[] }[] = []

  constructor(rpc: Rpc, state: ChainState) {
    this.#rpc = rpc
    this.#state = state
  }

  /** Hands signed transactions to the pool; their order within a block is by account and nonce only. Says who was refused. */
  async broadcast(transactions: readonly Hex[]): Promise<Refusals> {
    const answers = await this.#rpc.settle(transactions.map((raw) => ['eth_sendRawTransaction', raw] as const))
    return answers.map((answer) => (answer instanceof RpcError ? answer : undefined))
  }

  /**
   * Mines what the pool holds into a block of that timestamp, or of the latest block's should somebody else have mined
   * ahead of it. Returns the block's timestamp.
   */
  async mine(timestamp: number): Promise<number> {
    try {
      return await this.#mineAt(timestamp)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      await this.#state.refresh()
      return await this.#mineAt(Math.max(timestamp, this.#state.latest))
    }
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly Call[]): Promise<void> {
    const [block] = await this.#rpc.batch<Hex>([['eth_blockNumber'], ...calls])
    this.#cheats.push({ block: block ?? '0x0', calls })
    this.#state.changed()
  }

  /** Carries out what somebody else asked of the node: it may have changed anything. */
  async foreign([method, ...params]: Call): Promise<unknown> {
    try {
      return await this.#rpc.call(method, ...params)
    } finally {
      await this.#state.refresh()
    }
  }

  /** Takes a transaction that cannot be mined out of the pool. */
  async drop(hash: Hex): Promise<void> {
    await this.#rpc.call('anvil_dropTransaction', hash)
  }

  /** Remembers the present state; the id is good for one {@link restore}. */
  checkpoint(): Promise<Hex> {
    return this.#rpc.call<Hex>('evm_snapshot')
  }

  /** Back to a checkpoint. Anvil keeps pending transactions across it, so they are dropped first. */
  async restore(checkpoint: Hex): Promise<void> {
    await this.#rpc.call('anvil_dropAllTransactions')
    if (!(await this.#rpc.call<boolean>('evm_revert', checkpoint))) throw new Error('the chain lost its base state')
    this.#cheats = []
    await this.#state.refresh()
  }

  /**
   * Puts another block in the last one's place: the same transactions in the same order at the same time, and so the same
   * effect, but another hash. Throws with nothing changed if one of them bears no signature (an impersonated account's,
   * which others may send). It must not be the block of a {@link checkpoint}, which could not be restored any more.
   */
  async replaceLastBlock(): Promise<void> {
    const block = await this.#rpc.call<Block>('eth_getBlockByNumber', 'latest', false)
    const [parent, ...transactions] = await this.#rpc.batch([
      ['eth_getBlockByHash', block.parentHash, false],
      ...block.transactions.map((hash): Call => ['eth_getRawTransactionByHash', hash]),
    ])
    const sinceParent = Number(block.timestamp) - Number((parent as Block).timestamp)
    // The beneficiary is all that can differ. Anvil's reorganisation takes its time from the interval alone.
    await this.#rpc.call('anvil_setCoinbase', nextAddress(block.miner))
    await this.#rpc.call('anvil_setBlockTimestampInterval', sinceParent)
    try {
      await this.#rpc.call(
        'anvil_reorg',
        1,
        transactions.map((raw) => [raw, 0]),
      )
    } finally {
      await this.#rpc.call('anvil_removeBlockTimestampInterval')
      await this.#rpc.call('anvil_setCoinbase', NOBODY)
    }
    // What was changed directly after the block went with it.
    for (const { block: after, calls } of this.#cheats) if (after === block.number) await this.#rpc.batch(calls)
    await this.#state.refresh()
  }

  async #mineAt(timestamp: number): Promise<number> {
    await this.#rpc.call('evm_mine', { timestamp })
    this.#cheats = []
    this.#state.changed(timestamp)
    return timestamp
  }
}

function nextAddress(address: Hex): Hex {
  return numberToHex(BigInt.asUintN(160, BigInt(address) + 1n), { size: 20 })
}
