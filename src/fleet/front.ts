import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ClientConnection } from './client-connection.ts'
import type { Owner, OwnerOf, OwnerPlace } from './owner.ts'
import { type FrontExchange, PassedRequest, type PassingDeps } from './passed-request.ts'
import { passUpgrade } from './passed-upgrade.ts'

/** Dependencies of {@link Front}. */
export interface FrontDeps extends Pick<PassingDeps, 'self' | 'unavailable' | 'reset' | 'wallSleep'> {
  ownerOf: OwnerOf
  /** @returns true if the place of a request is known only when its body has come. Default: never */
  needsBody?(request: IncomingMessage): boolean
  /** The server of the application in this process, which answers requests as if they had come to it; undefined while there is none. */
  application(): Server | undefined
  /** Answers bytes that are not HTTP. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void
  /** Answers an upgrade that nobody can be asked for now. */
  refuseUpgrade(socket: Duplex): void
}

/**
 * Answers what comes to a server: each request in this process or by its owner, decided when its head is there. So what is served here can
 * change while the server listens, and also on open connections.
 */
export class Front {
  readonly #deps: FrontDeps
  readonly #passing: PassingDeps
  readonly #clients = new Set<Socket>()
  #open = 0

  /** `server`: listens for clients, and has no other listeners for requests. */
  constructor(server: Server, deps: FrontDeps) {
    this.#deps = deps
    this.#passing = { ...deps, again: deps.ownerOf, serve: (exchange) => this.#serve(exchange) }
    // The owner decides if a client that has ended its side is answered: Node itself would close the connection.
    Object.assign(server, { httpAllowHalfOpen: true })
    const lead = (continues: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      void this.#lead({ request, response, continues })
    server.on('request', lead(false)).on('checkExpectation', lead(false)).on('checkContinue', lead(true))
    server.on('upgrade', (request, socket, head) => void this.#leadUpgrade(request, socket, head))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => this.#broke(error, socket as Socket))
    const closing = (socket: Socket) => {
      this.#clients.add(socket)
      socket.once('end', () => this.#ended(socket)).once('close', () => this.#clients.delete(socket))
    }
    server.on('secureConnection', closing).on('connection', closing)
  }

  /** Ends what was passed on to an owner that is dead for the others: it may be unable to end it itself. */
  partFrom(owner: Owner): void {
    for (const socket of this.#clients) ClientConnection.known(socket)?.partFrom(owner)
  }

  /** Ends all connections of clients, upgraded ones too. */
  end(): void {
    for (const socket of this.#clients) ClientConnection.of(socket).cut()
  }

  /** Number of requests whose answers are not out. */
  get open(): number {
    return this.#open
  }

  #lead(exchange: FrontExchange): void {
    this.#open++
    exchange.response.once('close', () => this.#open--)
    if (exchange.continues && this.#deps.needsBody?.(exchange.request)) {
      exchange.continues = false
      exchange.response.writeContinue()
    }
    const place = this.#placeOf(exchange.request)
    if (place instanceof Promise) void place.then((found) => this.#to(found, exchange))
    else this.#to(place, exchange)
  }

  /** Does not reject: an owner that cannot be found out is nobody. */
  #placeOf(request: IncomingMessage): OwnerPlace | Promise<OwnerPlace> {
    const place = this.#deps.ownerOf(request)
    return place instanceof Promise ? place.catch(() => null) : place
  }

  #to(place: OwnerPlace, exchange: FrontExchange): void {
    const { request, response } = exchange
    if (place === null) this.#deps.unavailable(request, response)
    else if (place === 'here') this.#serve(exchange)
    else new PassedRequest(ClientConnection.of(request.socket), exchange, this.#passing).to(place)
  }

  #serve({ request, response, continues }: FrontExchange): void {
    const application = this.#deps.application()
    if (continues && application) response.writeContinue()
    if (application) application.emit('request', request, response)
    else this.#deps.unavailable(request, response)
  }

  async #leadUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const place = await this.#placeOf(request)
    const application = this.#deps.application()
    if (place === 'here' && application) application.emit('upgrade', request, socket, head)
    else if (place === null || place === 'here') this.#deps.refuseUpgrade(socket)
    else passUpgrade({ request, socket: socket as Socket, head }, place, this.#deps)
  }

  #broke(error: NodeJS.ErrnoException, socket: Socket): void {
    const [last] = [...(ClientConnection.known(socket)?.passing ?? [])].slice(-1)
    // The owner gets the same end, and has a limit of its own for requests that take too long.
    if (last && (error.code === 'HPE_INVALID_EOF_STATE' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT')) return
    if (!last || error.code === 'ECONNRESET' || !last.clientBroke()) this.#deps.refuse(error, socket)
  }

  /** Ends the connection of a client that has ended its side, as a server of Node does, unless an owner decides. */
  #ended(socket: Socket): void {
    const passing = ClientConnection.known(socket)?.passing.size ?? 0
    if (passing === 0) socket.end()
  }
}
