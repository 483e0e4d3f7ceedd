// Multicall3 where clients expect it: a contract without constructor and owner, put there without a transaction.

const ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * @param {{ request: (method: string, params?: unknown[]) => Promise<any> }} anvil
 * @param {{ bytecode: `0x${string}` }} contract compiled
 */
export async function placeMulticall3(anvil, { bytecode }) {
  const code = await anvil.request('eth_call', [{ data: bytecode }, 'latest']) // what a deployment would leave there
  await anvil.request('anvil_setCode', [ADDRESS, code])
}
