import { encodeFunctionData, parseAbi } from 'viem'
import type { SandboxHandle } from '../../src/index.ts'

const ERC20 = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
])

/** A transaction's receipt as far as tests look at it. */
export interface Receipt {
  status: string
  from: string
  to: string
}

/** Asks the chain itself, past the sandbox. */
export async function receiptOf(sandbox: SandboxHandle, txHash: string): Promise<Receipt | null> {
  return rpc(sandbox, 'eth_getTransactionReceipt', txHash)
}

/** An account's token balance in minor units. */
export async function tokenBalance(sandbox: SandboxHandle, token: string, owner: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: ERC20, functionName: 'balanceOf', args: [owner as `0x${string}`] })
  return BigInt(await rpc<string>(sandbox, 'eth_call', { to: token, data }, 'latest'))
}

/** Takes a market's allowance back, so that the wallet's next deposit into it reverts. */
export async function revokeAllowance(sandbox: SandboxHandle, token: string, owner: string, spender: string) {
  const data = encodeFunctionData({ abi: ERC20, functionName: 'approve', args: [spender as `0x${string}`, 0n] })
  await rpc(sandbox, 'anvil_impersonateAccount', owner)
  const hash = await rpc<string>(sandbox, 'eth_sendTransaction', { from: owner, to: token, data, gasPrice: '0x0' })
  await rpc(sandbox, 'anvil_mine', '0x1')
  return hash
}

async function rpc<T>(sandbox: SandboxHandle, method: string, ...params: unknown[]): Promise<T> {
  return (await sandbox.chain.request({ method, params } as never)) as T
}
