import { overBudget, TRACED_GAS } from '../json-rpc/rpc-budget.ts'
import { type RpcCall, type RpcClient, RpcError } from '../json-rpc/rpc-client.ts'

/**
 * Looks how much work a trace of a mined transaction, or of a block, would be. Throws RpcError if it is too much: the node
 * could not be kept from it, and would do nothing else meanwhile.
 */
export async function checkTraced(method: string, subject: unknown, rpc: RpcClient): Promise<void> {
  const found = await rpc.settle([lookup(method, subject)])
  const { gasUsed } = Object(found[0] instanceof RpcError ? undefined : found[0]) as { gasUsed?: unknown }
  if (!(Number(gasUsed) > TRACED_GAS)) return
  const reason = `it used ${Number(gasUsed)} gas, and ${TRACED_GAS} is the limit of a trace; trace_transaction shows more`
  throw overBudget(method, reason)
}

function lookup(method: string, subject: unknown): RpcCall {
  if (method.endsWith('Transaction')) return ['eth_getTransactionReceipt', subject]
  return [method.endsWith('Hash') ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', subject, false]
}
