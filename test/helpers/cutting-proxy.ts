import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Where a connection is cut: after this number of bytes in this direction, counted from {@link CuttingProxy.cut}. */
interface Cut {
  /** `request` counts bytes from the client, `reply` those from the server. */
  way: 'request' | 'reply'
  bytes: number
}

/**
 * A TCP proxy before a server that cuts a connection in the middle of a message. The bytes before the cut are handed on; both sides are
 * then closed, as by a machine between them that dies.
 */
export class CuttingProxy {
  readonly port: number
  readonly #server: Server
  #target: number
  readonly #pairs = new Set<{ client: Socket; server: Socket }>()
  readonly #left = new Set<Socket>()
  #cut: (Cut & { seen: number }) | undefined

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => this.#join(client, connect(this.#target, '127.0.0.1')))
  }

  static async before(port: number): Promise<CuttingProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new CuttingProxy(server, port)
  }

  /** Cuts one connection, the first on which so many bytes have passed. */
  cut(way: Cut['way'], bytes: number): void {
    this.#cut = { way, bytes, seen: 0 }
  }

  /** True if the cut has not happened yet. */
  get armed(): boolean {
    return this.#cut !== undefined
  }

  /** Forgets a cut that has not happened. */
  disarm(): void {
    this.#cut = undefined
  }

  /** Leads to another server from now on, as a cluster's address does after a failover: the connections there are end. */
  leadTo(port: number): void {
    this.#target = port
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.destroy()
  }

  /** Closes the clients' connections; the server's stay, as if the packets were lost that would end them. */
  abandon(): void {
    for (const pair of this.#pairs) {
      this.#pairs.delete(pair)
      pair.client.destroy()
      this.#left.add(pair.server)
    }
  }

  /** Ends the server's connections that {@link abandon} has left, as the system does when nobody answers for long. */
  bury(): void {
    for (const server of this.#left) server.destroy()
    this.#left.clear()
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.bury()
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.destroy()
    await closed
  }

  #join(client: Socket, server: Socket): void {
    const pair = { client, server }
    this.#pairs.add(pair)
    const end = () => {
      if (!this.#pairs.delete(pair)) return
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (bytes) => this.#pass('request', bytes, server, end))
    server.on('data', (bytes) => this.#pass('reply', bytes, client, end))
  }

  #pass(way: Cut['way'], bytes: Buffer, to: Socket, end: () => void): void {
    const cut = this.#cut
    const left = cut?.way === way ? cut.bytes - cut.seen : Number.POSITIVE_INFINITY
    if (cut?.way === way) cut.seen += bytes.length
    if (bytes.length < left) {
      to.write(bytes)
      return
    }
    this.#cut = undefined
    to.write(bytes.subarray(0, left), end)
  }
}
