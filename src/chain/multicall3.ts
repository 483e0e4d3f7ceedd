import type { Hex } from '../domain/records.ts'
import type { ChainWriter } from './chain-writer.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Rpc } from './rpc.ts'

/** Where clients expect Multicall3 on every chain. */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Puts the contract onto an embedded chain that was kept by a version without it. */
export async function placeMulticall3(
  { rpc, writer }: { rpc: Rpc; writer: ChainWriter },
  embedded: Checkpoint,
): Promise<void> {
  if ((await rpc.call<Hex>('eth_getCode', MULTICALL3, 'latest')) !== '0x') return
  const accounts = JSON.parse(embedded.accounts) as Record<string, { code?: Hex }>
  const code = accounts[MULTICALL3.toLowerCase()]?.code
  if (code) await writer.cheat([['anvil_setCode', MULTICALL3, code]])
}
