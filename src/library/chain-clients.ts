import type { PublicActions, TestClient } from 'viem'
import type { Credentials } from '../control/contract.ts'

/** A viem client that reads the chain and commands Anvil. */
export type ChainClient = TestClient & PublicActions

/**
 * A viem client of every chain, by chain id. viem is loaded here, after the chains have started: it is the slowest import
 * and the command line does not need it.
 */
export async function chainClients(
  { rpc_urls }: Credentials,
  fetchFn: typeof fetch,
): Promise<Record<string, ChainClient>> {
  const { createTestClient, http, publicActions } = await import('viem')
  // Nothing is kept from call to call: viem measures the age of what it keeps with a clock that a test may have stopped.
  const client = (url: string) =>
    createTestClient({ mode: 'anvil', transport: http(url, { fetchFn }), cacheTime: 0 }).extend(publicActions)
  return Object.fromEntries(Object.entries(rpc_urls).map(([chainId, url]) => [chainId, client(url)]))
}
