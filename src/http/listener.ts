import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { Origin } from '../domain/origin.ts'

/** Thousands may connect while the process is busy: Node would let 511 wait, and some of the others are reset. */
const BACKLOG = 65_535

/** What the operating system says of an address that the machine does not have. */
const NO_SUCH_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Where an application is to listen. */
export interface ListenOptions {
  host: string | undefined
  port: number
  /** An origin; undefined for the address listened on. */
  publicUrl: string | undefined
  /** Whatever is there for https; undefined for http. */
  tls: unknown
}

/**
 * The addresses of a sandbox, before there is anything that answers there: whoever connects by then waits until it is served.
 * So the origin is known to all that is built, and a port that is taken is known before anything is started.
 */
export class Listener {
  /**
   * Listens at a host. `localhost`, the default, leads to IPv4 or IPv6: there it listens on both, as far as the machine has them.
   * Throws the operating system's error about an address or a port; nothing listens then.
   */
  static async open({ host, port, publicUrl, tls }: ListenOptions): Promise<Listener> {
    const both = host === undefined || host === 'localhost'
    const first = new Door()
    const doors = [first]
    try {
      await first.open(both ? '127.0.0.1' : host, port)
      const second = new Door()
      if (both && (await second.openIfThere('::1', first.port, port === 0))) doors.push(second)
    } catch (error) {
      for (const door of doors) door.close()
      throw error
    }
    const scheme = tls ? 'https' : 'http'
    const origin = publicUrl ? Origin.public(publicUrl) : Origin.listening({ scheme, host, port: first.port })
    return new Listener(origin, doors)
  }

  readonly #doors: readonly Door[]
  #app: FastifyInstance | undefined

  private constructor(
    /** Where clients find it. */
    readonly origin: Origin,
    doors: readonly Door[],
  ) {
    this.#doors = doors
  }

  /** From now on the application answers, those who wait first. */
  async serve(app: FastifyInstance): Promise<void> {
    this.#app = app
    // Fastify ends the connections of a server that it has let listen itself.
    app.addHook('preClose', async () => app.server.closeAllConnections())
    await app.ready()
    const [first, ...others] = this.#doors
    await first?.handOver(app.server)
    for (const door of others) door.leadTo(app.server)
  }

  /** Ends connections and frees the port, on every address. */
  async close(): Promise<void> {
    const freed = this.#doors.map((door) => door.close())
    await Promise.all([this.#app?.close(), ...freed])
  }
}

/** One address, and the connections that came there before anybody answered them. */
class Door {
  readonly #server: Server
  #target: Server | undefined
  readonly #waiting = new Set<Socket>()

  constructor() {
    // As Node's own HTTP servers have it; nothing is read before it is known who reads.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
      if (this.#target) return pass(socket, this.#target)
      this.#waiting.add(socket.on('error', () => socket.destroy()).once('close', () => this.#waiting.delete(socket)))
    })
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port')
    return address.port
  }

  async open(host: string, port: number, ipv6Only = false): Promise<void> {
    this.#server.listen({ host, port, backlog: BACKLOG, ipv6Only })
    await once(this.#server, 'listening')
  }

  /** @returns false when the machine has no such address, or when the port, which nobody asked for, is another's there */
  async openIfThere(host: string, port: number, anyPort: boolean): Promise<boolean> {
    try {
      await this.open(host, port, true)
      return true
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (NO_SUCH_ADDRESS.has(code) || (anyPort && code === 'EADDRINUSE')) return false
      throw error
    }
  }

  /** Gives the address itself to a server, which then looks after slow clients as well: it closes it. */
  async handOver(server: Server): Promise<void> {
    server.listen(this.#server, BACKLOG)
    await once(server, 'listening')
    this.leadTo(server)
  }

  /** Whoever comes here is a client of that server. */
  leadTo(server: Server): void {
    this.#target = server
    for (const socket of this.#waiting) pass(socket, server)
    this.#waiting.clear()
  }

  async close(): Promise<void> {
    for (const socket of this.#waiting) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function pass(socket: Socket, server: Server): void {
  if (socket.destroyed) return
  // A server that reads TLS wants its end of the connection to end with the other's.
  if (server instanceof TlsServer) socket.allowHalfOpen = false
  server.emit('connection', socket)
  socket.resume()
}
