import { MULTICALL3 } from '../../domain/chain-setup.ts'
import type { Hex } from '../../domain/records.ts'
import type { Checkpoint } from '../history/checkpoint.ts'
import type { RpcClient } from '../json-rpc/rpc-client.ts'
import type { ChainWriter } from './chain-writer.ts'

/** Puts the contract onto an embedded chain that was kept by a version without it. */
export async function placeMulticall3(
  { rpc, writer }: { rpc: RpcClient; writer: ChainWriter },
  embedded: Checkpoint,
): Promise<void> {
  if ((await rpc.call<Hex>('eth_getCode', MULTICALL3, 'latest')) !== '0x') return
  const accounts = JSON.parse(embedded.accounts) as Record<string, { code?: Hex }>
  const code = accounts[MULTICALL3.toLowerCase()]?.code
  if (code) await writer.cheat([['anvil_setCode', MULTICALL3, code]])
}
