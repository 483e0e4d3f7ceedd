import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SeededRandom } from '../../support/random.ts'
import { readBody } from '../../support/read-body.ts'

/** Answers the body of a JSON-RPC request, a single call's or a batch's. */
export type RpcHandler = (body: string) => Promise<string>

/** More than Anvil asks for at once: it may pass on what it was asked itself. */
const MAX_BYTES = 16 * 1024 * 1024

/** Serves JSON-RPC to an Anvil of ours, on loopback, at a path nobody can guess: it is no other program's business. */
export class RpcServer {
  /** Begins to listen. */
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
    this.#server.keepAliveTimeout = 0 // Anvil keeps its connections, and would meet one that was just closed
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
