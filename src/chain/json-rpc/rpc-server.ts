import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SeededRandom } from '../../support/random.ts'
import { readBody } from '../../support/read-body.ts'
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

/** Answers the body of a JSON-RPC request, a single call or a batch. */
export type RpcHandler = (body: string) => Promise<string>

/** Limit of a request in bytes: more than Anvil sends at once, although it may pass on what it was asked itself. */
const MAX_BYTES = 16 * 1024 * 1024

/** Serves JSON-RPC to one of our Anvils, on loopback, at a path that other programs cannot guess. */
export class RpcServer {
  /** Starts a server. Resolves when it listens. */
  static async listen(handler: RpcHandler): Promise<RpcServer> {
    const server = new RpcServer(handler)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  readonly #server: Server
  readonly #path = `/${SeededRandom.secret()}`

  private constructor(handler: RpcHandler) {
    this.#server = createServer((request, response) => void this.#serve(request, response, handler))
    this.#server.keepAliveTimeout = 0 // Anvil reuses connections, and might use one that has just been closed
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server does not listen')
    return `http://127.0.0.1:${address.port}${this.#path}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse, handler: RpcHandler): Promise<void> {
    try {
      const body = await readBody(request, MAX_BYTES)
      if (request.url !== this.#path) response.statusCode = 404
      response.setHeader('content-type', 'application/json')
      response.end(request.url === this.#path ? await handler(body) : undefined)
    } catch {
      response.destroy() // Anvil hung up
    }
  }
}
