import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { SeededRandom } from '../../support/random.ts'

/** Answers the body of a JSON-RPC request, a single call or a batch. */
export type RpcHandler = (body: string) => Promise<string>

/** Limit of a request in bytes: more than Anvil sends at once, although it may pass on what it was asked itself. */
const MAX_BYTES = 16 * 1024 * 1024
/** Limit of a request's head in bytes. */
const MAX_HEAD = 16 * 1024

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d{1,8})(?=\r\n|$)/i
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

/**
 * Serves JSON-RPC to one of our Anvils, on loopback, at a path that other programs cannot guess. It reads HTTP/1.1 as Anvil sends it: a
 * POST with its length, and the next one after the answer. Anvil asks some forty questions as it starts, which took Node's own server
 * three times as long, a twentieth of a start.
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
  let chunks: Buffer[] = []
  let size = 0
  /** Bytes without which there is nothing to do. */
  let wanted = HEAD_END.length
  let busy = false
  const next = () => {
    if (busy || size < wanted) return
    const received = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    chunks = [received]
    const request = requestIn(received, line)
    if (typeof request === 'number') {
      wanted = request
      return
    }
    busy = true
    if (!request) return void socket.end(NOT_FOUND, () => socket.destroy())
    const rest = received.subarray(request.end)
    chunks = [rest]
    size = rest.length
    wanted = HEAD_END.length
    const respond = (answer: string) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}`
      socket.write(`${head}${HEAD_END}${answer}`)
      busy = false
      next()
    }
    handler(request.body)
      .then(respond)
      .catch(() => socket.destroy())
  }
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    next()
  })
}

/** The request at the beginning, and where it ends; the number of bytes that it takes if it is not complete; undefined if it is another. */
function requestIn(received: Buffer, line: string): { body: string; end: number } | number | undefined {
  const headEnd = received.indexOf(HEAD_END)
  if (headEnd === -1) return received.length > MAX_HEAD ? undefined : received.length + 1
  const head = received.toString('latin1', 0, headEnd)
  const length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
  if (!head.startsWith(line) || !(length <= MAX_BYTES)) return undefined
  const start = headEnd + HEAD_END.length
  const end = start + length
  return received.length < end ? end : { body: received.toString('utf8', start, end), end }
}
