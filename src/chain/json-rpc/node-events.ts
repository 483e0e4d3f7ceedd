import { EventEmitter } from 'node:events'
import type { Block } from './block.ts'

/**
 * What happens to a chain's node, for the parts of the chain that work with it. They hear of it at once and in the order in which
 * they were made, and know nothing of each other:
 *
 *     writer ── distrusted ──▶ supervisor ── arrived ──▶ writer
 *                                        ├── silent ───▶ producer
 *                                        └── answers ──▶ producer, chain
 */
export class NodeEvents extends EventEmitter<{
  /** Nobody knows for certain what the node did, for this reason: another one must take its place. */
  distrusted: [reason: string]
  /** A node stands where the journal ends, with this last block. Nothing was asked of it yet. */
  arrived: [tip: Block]
  /** The node gives no answer: it hangs, or is busy with something. */
  silent: [reason: string]
  /** The node answers again, or another one in its place. */
  answers: []
}> {}
