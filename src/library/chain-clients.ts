import type { PublicActions, TestClient } from 'viem'
import type { Credentials } from '../control/contract.ts'
import { MULTICALL3 } from '../domain/chain-setup.ts'
import type { Viem } from './viem.ts'

/** A viem client that reads the chain and commands Anvil. */
export type ChainClient = TestClient & PublicActions

/** A viem client for each chain, by chain id. */
export function chainClients(
  { rpc_urls }: Credentials,
  fetchFn: typeof fetch,
  { createTestClient, defineChain, http, publicActions }: Viem,
): Record<string, ChainClient> {
  // No caching between calls: viem measures the age of its cache with a clock that a test may have stopped.
  const client = (chainId: string, url: string): ChainClient => {
    const chain = defineChain({
      id: Number(chainId),
      name: `Sandbox, chain ${chainId}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
      contracts: { multicall3: { address: MULTICALL3 } },
    })
    const transport = http(url, { fetchFn })
    return createTestClient({ mode: 'anvil', chain, transport, cacheTime: 0 }).extend(publicActions)
  }
  return Object.fromEntries(Object.entries(rpc_urls).map(([chainId, url]) => [chainId, client(chainId, url)]))
}
