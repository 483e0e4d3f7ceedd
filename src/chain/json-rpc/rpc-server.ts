import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SeededRandom } from '../../support/random.ts'
import { readBody } from '../../support/read-body.ts'

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
