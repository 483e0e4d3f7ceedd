import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { hostIn, Origin } from '../domain/origin.ts'

/** Thousands may connect while the process is busy: with Node's default of 511, some of the others would be reset. */
const BACKLOG = 65_535

/** Codes of the operating system for an address that the machine does not have. */
const NO_SUCH_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Address at which an application listens. */
export interface ListenOptions {
  host: string | undefined
  port: number
  /** True if a free port does as well when that one is taken. */
  portMayDiffer?: boolean
  /** An origin; undefined for the address listened on. */
  publicUrl: string | undefined
  /** Any value for https; undefined for http. */
  tls: unknown
}

/** An application that answers at addresses. */
export interface ListenedApp {
  readonly server: HttpServer
  /** Resolves when its server can answer. */
  ready(): PromiseLike<unknown>
  /** Ends it, its server included. */
  close(): PromiseLike<unknown>
}

/**
 * The addresses of a sandbox, opened before anything can answer there: a client that connects early waits until it is served. So every
 * part can be built with a known origin, and a port that is taken is reported before anything is started.
 */
export class Listener {
  /**
   * Listens at a host. `localhost`, the default, resolves to IPv4 or IPv6, so it listens on both if the machine has both. Throws the
   * operating system's error about an address or a port; nothing listens then.
   */
  static async open({ portMayDiffer, ...options }: ListenOptions): Promise<Listener> {
    try {
      return await Listener.#openAt(options)
    } catch (error) {
      if (!portMayDiffer || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      return Listener.#openAt({ ...options, port: 0 })
    }
  }

  static async #openAt({ host, port, publicUrl, tls }: ListenOptions): Promise<Listener> {
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
    const listening = Origin.listening({ scheme, host, port: first.port })
    return new Listener(listening.url, publicUrl ? Origin.public(publicUrl) : listening, doors)
  }

  readonly #doors: Door[]
  #app: ListenedApp | undefined
  #target: HttpServer | undefined

  private constructor(
    /** URL of the address that it listens on. */
    readonly url: string,
    /** Address at which clients find it: that one, or the public one. */
    readonly origin: Origin,
    doors: Door[],
  ) {
    this.#doors = doors
  }

  /**
   * Listens at one more address, which becomes another name of {@link origin}: at this host and the same port or, where the machine has no
   * such address or the port belongs to another program there, at any free port of the first address. Returns its URL.
   */
  async openBeside(host: string): Promise<string> {
    const own = new URL(this.url)
    const { hostname, port, protocol } = own
    const door = new Door()
    const isThere = await door.openIfThere(host, Number(port), true)
    if (!isThere) await door.open(hostIn(own), 0)
    this.#doors.push(door)
    if (this.#target) door.leadTo(this.#target)
    const url = `${protocol}//${isThere ? host : hostname}:${door.port}`
    this.origin.addName(url)
    return url
  }

  /** Lets the application answer from now on, first the clients that wait. */
  async serve(app: ListenedApp): Promise<void> {
    this.#app = app
    await app.ready()
    await this.leadTo(app.server)
  }

  /** Lets a server have all connections from now on, first those that wait. Not to be called twice. */
  async leadTo(server: HttpServer): Promise<void> {
    this.#target = server
    const [first, ...others] = this.#doors
    await first?.handOver(server)
    for (const door of others) door.leadTo(server)
  }

  /** Ends connections and frees the port, on every address. */
  async close(): Promise<void> {
    const freed = this.#doors.map((door) => door.close())
    // Fastify ends connections only for a server that it started listening itself.
    this.#target?.closeAllConnections()
    await Promise.all([this.#app?.close(), ...freed])
  }
}

/** One address, and the connections that arrived before there was a server for them. */
class Door {
  readonly #server: Server
  #target: Server | undefined
  readonly #waiting = new Set<Socket>()

  constructor() {
    // The settings of Node's own HTTP servers; nothing is read before the server is known.
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

  /** @returns false if the machine has no such address, or if the port, chosen by the system, belongs to another program there */
  async openIfThere(host: string, port: number, anyPort: boolean): Promise<boolean> {
    try {
      await this.open(host, port, host.includes(':'))
      return true
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (NO_SUCH_ADDRESS.has(code) || (anyPort && code === 'EADDRINUSE')) return false
      throw error
    }
  }

  /** Hands the address over to a server, which then handles slow clients too, and closes it. */
  async handOver(server: Server): Promise<void> {
    server.listen(this.#server, BACKLOG)
    await once(server, 'listening')
    this.leadTo(server)
  }

  /** Passes every connection, waiting or new, to that server. */
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
  // A TLS server expects its end of the connection to close with the other end.
  if (server instanceof TlsServer) socket.allowHalfOpen = false
  server.emit('connection', socket)
  socket.resume()
}
