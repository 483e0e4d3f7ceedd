// Contracts without constructor that are put at an address without a transaction.

/** Where clients expect Multicall3. */
export const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * @param {{ request: (method: string, params?: unknown[]) => Promise<any> }} anvil
 * @param {`0x${string}`} address
 * @param {{ bytecode: `0x${string}` }} contract compiled
 */
export async function place(anvil, address, { bytecode }) {
  const code = await anvil.request('eth_call', [{ data: bytecode }, 'latest']) // what a deployment would leave there
  await anvil.request('anvil_setCode', [address, code])
}
