import { RpcError } from './rpc-client.ts'

/** A valid JSON-RPC request; without an id, a notification. */
export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id?: string | number | null
  method: string
  params?: readonly unknown[] | null
}

/** The error member of a JSON-RPC response. */
export interface JsonRpcFault {
  code: number
  message: string
  data?: unknown
}

export const PARSE_ERROR: JsonRpcFault = { code: -32700, message: 'Parse error' }
export const INVALID_REQUEST: JsonRpcFault = { code: -32600, message: 'Invalid request' }

/** @returns true if a value is a valid request */
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

/** Makes the JSON of a response with a result. */
export function resultText({ id = null }: JsonRpcRequest, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null })
}

/** Makes the JSON of a response with an error; `request` may be any value that was sent in place of a request. */
export function faultText(request: unknown, fault: JsonRpcFault): string {
  const { id } = Object(request) as { id?: unknown }
  const known = typeof id === 'string' || typeof id === 'number' ? id : null
  return JSON.stringify({ jsonrpc: '2.0', id: known, error: fault })
}

/** Makes the JSON of a response with an error in the node's format; undefined for a notification, which is not answered. */
export function refusalText(request: JsonRpcRequest, { code, reason, data }: RpcError): string | undefined {
  if (request.id === undefined) return undefined
  return faultText(request, { code, message: reason, ...(data !== undefined && { data }) })
}

/**
 * Runs a request and makes the JSON of its response: the result, or the RpcError that `run` throws. Rethrows other errors.
 * @returns undefined for a notification
 */
export async function outcomeText(request: JsonRpcRequest, run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const result = await run()
    return request.id === undefined ? undefined : resultText(request, result)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return refusalText(request, error)
  }
}
