import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { SeededRandom } from '../../support/random.ts'
import { HEAD_END, HttpMessageReader } from './http-message-reader.ts'
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

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

/**
 * Serves JSON-RPC to one of our Anvils, on loopback, at a path that other programs cannot guess. Anvil sends a POST with its length, and
 * the next one after the answer. It asks some forty questions as it starts, which took Node's own server three times as long, a twentieth
 * of a start.
 */
export class RpcServer {
  /** Starts a server. Resolves when it listens. */
  static async listen(handler: RpcHandler): Promise<RpcServer> {
    const server = new RpcServer(handler)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #path = `/${SeededRandom.secret()}`

  private constructor(handler: RpcHandler) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket)) // Anvil hung up
      serve(socket, `POST ${this.#path} HTTP/1.1\r\n`, handler)
    })
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server does not listen')
    return `http://127.0.0.1:${address.port}${this.#path}`
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Answers the requests of a connection whose first line is `line`, one after another; ends it at any other. */
function serve(socket: Socket, line: string, handler: RpcHandler): void {
  const reader = new HttpMessageReader()
  const examine = (head: string, length: number) => {
    if (!head.startsWith(line) || length > MAX_BYTES) throw new Error('it is another request')
  }
  let busy = false
  const next = () => {
    if (busy) return
    try {
      const request = reader.take(examine)
      if (!request) return
      busy = true
      handler(request.body)
        .then(respond)
        .catch(() => socket.destroy())
    } catch {
      busy = true
      socket.end(NOT_FOUND, () => socket.destroy())
    }
  }
  const respond = (answer: string) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}`
    socket.write(`${head}${HEAD_END}${answer}`)
    busy = false
    next()
  }
  socket.on('data', (chunk: Buffer) => {
    reader.add(chunk)
    next()
  })
}
