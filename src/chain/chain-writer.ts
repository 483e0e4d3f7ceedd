import type { Hex } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import { type Call, type Rpc, RpcError } from './rpc.ts'

/**
 * The only way anything on the chain is changed: transactions, blocks and cheats, strictly one after another (the block
 * producer's lane sees to that). What passes here in this order, replayed onto the base state, makes the same chain
 * again: it is the place for a journal.
 */
export class ChainWriter {
  readonly #rpc: Rpc
  readonly #state: ChainState

  constructor(rpc: Rpc, state: ChainState) {
    this.#rpc = rpc
    this.#state = state
  }

  /** Hands signed transactions to the pool; their order within a block is by account and nonce only. Says who was refused. */
  async broadcast(transactions: readonly Hex[]): Promise<(RpcError | undefined)[]> {
    const answers = await this.#rpc.settle(transactions.map((raw) => ['eth_sendRawTransaction', raw] as const))
    return answers.map((answer) => (answer instanceof RpcError ? answer : undefined))
  }

  /** Mines what the pool holds into a block of exactly that timestamp, which must not lie before the latest one's. */
  async mine(timestamp: number): Promise<void> {
    await this.#rpc.call('evm_mine', { timestamp })
    this.#state.changed(timestamp)
  }

  /** Changes balances or allowances directly. The calls of one batch must not depend on each other's order. */
  async cheat(calls: readonly Call[]): Promise<void> {
    await this.#rpc.batch(calls)
    this.#state.changed()
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
    await this.#state.refresh()
  }
}
