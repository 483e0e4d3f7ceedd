import type { ChainSetup } from '../domain/chain-setup.ts'
import type { Hex } from '../domain/records.ts'
import type { RpcClient } from './json-rpc/rpc-client.ts'
import type { NodeSupervisor } from './node/node-supervisor.ts'
import type { BlockProducer } from './rounds/block-producer.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

export interface RestDeps {
  setup: Pick<ChainSetup, 'fork'>
  rpc: RpcClient
  writer: ChainWriter
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'foreign'>
}

/** Conditions for a chain to rest. */
export interface RestTerms {
  /** True if foreign state that only the node has may be lost: a filter, a snapshot, a setting, a transaction that cannot be mined yet. */
  forgetting: boolean
  /** @returns true if the chain is needed after all */
  wanted(): boolean
}

/**
 * Ends a chain's work by `end` if its journal and archive are complete, or can be completed. Throws ChainUnavailableError; the chain
 * then stays awake.
 * @returns false if the chain stays awake, since it is needed or foreign state in its node would be lost
 */
export function restChain(
  { setup, rpc, writer, producer, supervisor }: RestDeps,
  { forgetting, wanted }: RestTerms,
  end: () => Promise<void>,
): Promise<boolean> {
  return producer.exclusive(async () => {
    const { pending, queued } = await rpc.call<{ pending: Hex; queued: Hex }>('txpool_status')
    if (Number(pending) > 0) return false // they are mined within half a second
    if (!forgetting && (Number(queued) > 0 || supervisor.foreign.pinned)) return false
    await keepAll({ setup, writer })
    if (wanted()) return false
    await end()
    return true
  })
}

/**
 * Completes journal and archive, so that the node has no state of its own. The caller must have the chain to itself. The state that
 * a fork has read so far is kept as well: the real chain's nodes may not have it any more when the journal is repeated.
 */
export async function keepAll({ setup, writer }: Pick<RestDeps, 'setup' | 'writer'>): Promise<void> {
  await writer.reconcile()
  if (writer.changedByOthers || setup.fork) await writer.checkpoint()
  await writer.idle()
}
