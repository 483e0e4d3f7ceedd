import type { Hex } from '../../domain/records.ts'
import type { Block } from '../json-rpc/block.ts'

/** With more transactions than this that no block took, it forgets the oldest. */
const MOST_WAITING = 10_000

/** Signed transactions that were sent to the node and stand in no block yet, by hash: what its pool holds, as far as we know. */
export class SentTransactions {
  readonly #waiting = new Map<string, Hex>()

  add(hash: Hex, raw: Hex): void {
    this.#waiting.set(hash, raw)
  }

  /** Call when the pool is empty, or may hold something else. */
  clear(): void {
    this.#waiting.clear()
  }

  /**
   * The signed transactions in a block, in their order; undefined if it holds others as well. Sent again in this order, they
   * make the same block. What was sent and does not stand in it is not part of that: a fork whose upstream failed left it out,
   * and whoever does the block again need not fail in the same way.
   */
  in({ transactions }: Block): Hex[] | undefined {
    const signed = transactions.flatMap((hash) => this.#waiting.get(String(hash)) ?? [])
    return signed.length === transactions.length ? signed : undefined
  }

  /** Call when a block is kept. */
  mined({ transactions }: Block): void {
    for (const hash of transactions) this.#waiting.delete(String(hash))
    for (const hash of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST_WAITING) break
      this.#waiting.delete(hash)
    }
  }
}
