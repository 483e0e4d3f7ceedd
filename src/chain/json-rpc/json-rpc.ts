import { RpcError } from './rpc-client.ts'

/** A JSON-RPC request that keeps to the specification; without an id, a notification. */
export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id?: string | number | null
  method: string
  params?: readonly unknown[] | null
}

/** Why a request is answered with an error. */
export interface JsonRpcFault {
  code: number
  message: string
  data?: unknown
}

export const PARSE_ERROR: JsonRpcFault = { code: -32700, message: 'Parse error' }
export const INVALID_REQUEST: JsonRpcFault = { code: -32600, message: 'Invalid request' }

/** @returns true if a value is a request that can be carried out. */
export function isRequest(value: unknown): value is JsonRpcRequest {
  if (typeof value !== 'object' || value === null) return false
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  return (
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (id === undefined || id === null || typeof id === 'string' || typeof id === 'number') &&
    (params === undefined || params === null || Array.isArray(params))
  )
}

/** A result's text. */
export function resultText({ id = null }: JsonRpcRequest, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null })
}

/** An error's text, for whatever was sent in place of a request, too. */
export function faultText(request: unknown, fault: JsonRpcFault): string {
  const { id } = Object(request) as { id?: unknown }
  const known = typeof id === 'string' || typeof id === 'number' ? id : null
  return JSON.stringify({ jsonrpc: '2.0', id: known, error: fault })
}

/** The text of an error of the node, or of one in its words; undefined for a notification, which is not answered. */
export function refusalText(request: JsonRpcRequest, { code, reason, data }: RpcError): string | undefined {
  if (request.id === undefined) return undefined
  return faultText(request, { code, message: reason, ...(data !== undefined && { data }) })
}

/** The text of how a request went: its result, or the error the node answered with. Throws whatever else `run` throws. */
export async function outcomeText(request: JsonRpcRequest, run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const result = await run()
    return request.id === undefined ? undefined : resultText(request, result)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return refusalText(request, error)
  }
}
