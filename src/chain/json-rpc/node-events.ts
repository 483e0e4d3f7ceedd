import { EventEmitter } from 'node:events'
import type { Block } from './block.ts'

/**
 * Events of a chain's node, for the parts of the chain that work with it. Listeners are called synchronously, in the order in which
 * the parts were made; the parts do not depend on each other:
 *
 *     writer ── distrusted ──▶ supervisor ── arrived ──▶ writer
 *                                        ├── silent ───▶ producer
 *                                        └── answers ──▶ producer, chain
 */
export class NodeEvents extends EventEmitter<{
  /** For this reason it is uncertain what the node has done, so another one must take its place. */
  distrusted: [reason: string]
  /** A node is at the end of the journal, with this last block. It has not received any request yet. */
  arrived: [tip: Block]
  /** The node does not answer: it hangs or is busy. */
  silent: [reason: string]
  /** The node, or another one in its place, answers again. */
  answers: []
}> {}
