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

/** Whether a chain may rest. */
export interface RestTerms {
  /** It may although its node alone has something of others: a filter, a snapshot, a setting, a transaction that cannot be mined yet. */
  forgetting: boolean
  /** @returns true when somebody needs the chain after all */
  wanted(): boolean
}

/**
 * Ends a chain's work if all that it knows is in its journal and archive, or can be put there. Returns false, with nothing
 * changed, if it is needed, or what others have in its node would be lost. Throws ChainUnavailableError: then nothing has ended.
 */
export function restChain(
  { setup, rpc, writer, producer, supervisor }: RestDeps,
  { forgetting, wanted }: RestTerms,
  end: () => Promise<void>,
): Promise<boolean> {
  return producer.exclusive(async () => {
    const { pending, queued } = await rpc.call<{ pending: Hex; queued: Hex }>('txpool_status')
    if (Number(pending) > 0) return false // it is mined within half a second
    if (!forgetting && (Number(queued) > 0 || supervisor.foreign.pinned)) return false
    await keepAll({ setup, writer })
    if (wanted()) return false
    await end()
    return true
  })
}

/**
 * Leaves nothing that only the node knows, for whoever has the chain to himself. What a fork has read so far is kept as well: the
 * real chain's nodes may not have it any more when it is done again.
 */
export async function keepAll({ setup, writer }: Pick<RestDeps, 'setup' | 'writer'>): Promise<void> {
  await writer.reconcile()
  if (writer.changedByOthers || setup.fork) await writer.checkpoint()
  await writer.idle()
}
