import type { Hex } from '../domain/records.ts'
import type { Block } from './block.ts'

/** Transactions that wait in the pool for longer than a block; beyond so many, the oldest are no longer known. */
const MOST_LEFT = 10_000

/** What a block is made of. */
export interface BlockContent {
  /** The signed transactions in it, in their order; undefined if it holds others as well. */
  signed: Hex[] | undefined
  /** What was sent since the block before: first what stands in it, then the rest. Sent again in this order, it makes the same block. */
  send: Hex[]
}

/** Signed transactions that were sent to the node, by hash: what its pool holds, as far as we know. */
export class SentTransactions {
  /** Not in the journal yet. */
  readonly #fresh = new Map<string, Hex>()
  /** In the journal: whoever does it again has them in the pool. Most were refused, or wait for another nonce. */
  readonly #left = new Map<string, Hex>()

  /** How many were sent since the last block. */
  get size(): number {
    return this.#fresh.size
  }

  add(hash: Hex, raw: Hex): void {
    if (!this.#left.has(hash)) this.#fresh.set(hash, raw)
  }

  /** Call when the pool is empty, or may hold something else. */
  clear(): void {
    this.#fresh.clear()
    this.#left.clear()
  }

  contentOf({ transactions }: Block): BlockContent {
    const hashes = transactions.map(String)
    const signed = hashes.flatMap((hash) => this.#fresh.get(hash) ?? this.#left.get(hash) ?? [])
    const own = hashes.flatMap((hash) => this.#fresh.get(hash) ?? [])
    const mined = new Set(own)
    const rest = [...this.#fresh.values()].filter((raw) => !mined.has(raw))
    return { signed: signed.length === hashes.length ? signed : undefined, send: [...own, ...rest] }
  }

  /** Call when a block is in the journal, with what was sent since the one before. */
  journalled({ transactions }: Block): void {
    for (const [hash, raw] of this.#fresh) this.#left.set(hash, raw)
    this.#fresh.clear()
    for (const hash of transactions) this.#left.delete(String(hash))
    for (const hash of this.#left.keys()) {
      if (this.#left.size <= MOST_LEFT) break
      this.#left.delete(hash)
    }
  }

  /** Call when the journal begins anew: it knows nothing of the pool any more. */
  forgotten(): void {
    for (const [hash, raw] of this.#left) this.#fresh.set(hash, raw)
    this.#left.clear()
  }
}
