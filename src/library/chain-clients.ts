import { createRequire } from 'node:module'
import type { PublicActions, TestClient } from 'viem'
import type { Credentials } from '../control/contract.ts'
import { MULTICALL3 } from '../domain/chain-setup.ts'

/** A viem client that reads the chain and commands Anvil. */
export type ChainClient = TestClient & PublicActions

/**
 * A viem client for each chain, by chain id. viem is loaded here, after the chains have started: it is the slowest import, and the
 * command line does not need it.
 */
export async function chainClients(
  credentials: Credentials,
  fetchFn: typeof fetch,
): Promise<Record<string, ChainClient>> {
  return clientsBy(await loadViem(), credentials, fetchFn)
}

/** As {@link chainClients}, but at once, by the viem that `require` finds. */
export function chainClientsNow(credentials: Credentials, fetchFn: typeof fetch): Record<string, ChainClient> {
  return clientsBy(requireViem(), credentials, fetchFn)
}

function clientsBy(
  { createTestClient, defineChain, http, publicActions }: typeof import('viem'),
  { rpc_urls }: Credentials,
  fetchFn: typeof fetch,
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

/**
 * The viem that the caller would import. Where `import()` does not work, as in Jest's default setup and in Vitest's `vmThreads`, the one
 * that `require` finds.
 */
async function loadViem(): Promise<typeof import('viem')> {
  try {
    return await import('viem')
  } catch {
    return requireViem()
  }
}

function requireViem(): typeof import('viem') {
  return createRequire(import.meta.url)('viem')
}
