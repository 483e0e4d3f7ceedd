import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { type ClientConnection, isReset, type Leaving, type Passing } from './client-connection.ts'
import { forwardedHeader, NOT_TAKEN } from './forwarded-header.ts'
import type { Owner, OwnerPlace } from './owner.ts'

/** Bytes of a body that are kept in memory, to hand the request on once more: the service refuses longer ones. */
const KEPT = 100 * 1024

/** Owners that a request is offered to, one after another, while none has taken it. */
const OWNERS = 4

/** Milliseconds of real time for a connection to an owner: its machine may be gone. */
const CONNECT_MS = 2_000

/** A request that came to this process, and how it is answered. */
export interface FrontExchange {
  request: IncomingMessage
  response: ServerResponse
  /** True if the client sends the body when it is told to. */
  continues: boolean
}

/** What passing requests on needs of the process. */
export interface PassingDeps {
  /** OwnerPlace of a request whose owner could not be reached, or was not the owner. May reject. */
  again(request: IncomingMessage, failed: Owner): OwnerPlace | Promise<OwnerPlace>
  /** Serves a request in this process, if nothing of its body has been read. */
  serve(exchange: FrontExchange): void
  /** This process as an owner: for a request whose body has been read, and that turns out to be for it. */
  self: Owner | undefined
  /** Answers that nobody can be asked now. */
  unavailable(request: IncomingMessage, response: ServerResponse): void
  /** Ends a client's connection with a TCP reset. */
  reset(socket: Socket): void
  /** Real time. */
  wallSleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

/**
 * One request that is passed on to its owner, and its answer:
 *
 *     client  <->  request, response  |  this process  |  upstream, answer  <->  owner
 *
 * What was received in whole is handed on, even if its client has gone. What may have left is never sent again. Requests that a client
 * sends before it has the answers to earlier ones (pipelining) go to the owner one after another.
 */
export class PassedRequest implements Passing {
  readonly #connection: ClientConnection
  readonly #exchange: FrontExchange
  readonly #deps: PassingDeps
  #upstream: ClientRequest | undefined
  #answer: IncomingMessage | undefined
  /** The body so far, for another owner; undefined when none can be asked any more. */
  #kept: Buffer[] | undefined = []
  #received = 0
  #reading = false
  /** True when the last byte of the body has been read. */
  #whole = false
  /** True once the owner takes the body. */
  #open = false
  #offered = 0

  constructor(connection: ClientConnection, exchange: FrontExchange, deps: PassingDeps) {
    this.#connection = connection
    this.#exchange = exchange
    this.#deps = deps
    // Both may fail when their connection has ended: then nobody waits for them.
    exchange.request.on('error', () => undefined)
    exchange.response.on('error', () => undefined)
    connection.passing.add(this)
  }

  /** Hands the request on to that owner. */
  to(owner: Owner): void {
    this.#offered++
    const { request, continues } = this.#exchange
    const innerExpect = !continues && isLong(request)
    const lines = linesOf(request)
    const upstream = openRequest({
      agent: this.#connection.agentFor(owner),
      host: owner.host,
      port: owner.port,
      method: request.method,
      path: request.url,
      setHost: false,
      headers: [
        ...forwardedHeader(request, lines.length / 2, owner.secret),
        ...lines,
        // So that an owner that is none any more says so before the body is sent.
        ...(innerExpect ? ['Expect', '100-continue'] : []),
      ],
    })
    this.#upstream = upstream
    this.#open = false
    let connected = false
    upstream.on('error', () => {
      if (upstream !== this.#upstream) return
      if (connected) this.#broken(upstream)
      else void this.#tryAnother(owner)
    })
    upstream.once('close', () => {
      if (upstream === this.#upstream) this.#connection.passed(this)
    })
    upstream.once('socket', (socket) => {
      this.#connection.joined(socket, owner)
      this.#whenConnected(socket, () => {
        connected = true
        if (!innerExpect) this.#read()
        if (!innerExpect && !continues) this.#openBody(upstream)
        // The head goes out with what came with it: Node waits for the first byte of the body otherwise, and that may take its time.
        setImmediate(() => {
          flushHead(upstream)
          if (this.#connection.left) this.clientLeft(this.#connection.left)
        })
      })
    })
    upstream.once('continue', () => {
      if (continues) this.#exchange.response.writeContinue()
      this.#openBody(upstream)
      this.#read()
    })
    upstream.once('response', (answer) => {
      if (answer.statusCode !== 421 || !(NOT_TAKEN in answer.headers)) return this.#relay(upstream, answer)
      void this.#tryAnother(owner)
      upstream.destroy()
    })
  }

  clientLeft(how: Leaving): void {
    const { request } = this.#exchange
    if (how !== 'ended') {
      // Nobody reads the answer, and what is not read would hold the connection to the owner.
      this.#answer?.removeAllListeners('data').resume()
      if (this.#reading) this.#readRest()
    }
    const upstream = this.#upstream
    const socket = upstream?.socket
    if (!socket || socket.connecting) return
    void this.#connection.sayLeft(socket).then(() => {
      if (request.complete) {
        if (upstream.writableFinished) socket.end()
        else upstream.once('finish', () => socket.end())
      } else if (how === 'reset') socket.write('', () => socket.resetAndDestroy())
      else socket.end()
    })
  }

  clientBroke(): boolean {
    const socket = this.#upstream?.socket
    if (!socket || socket.connecting || this.#answer) return false
    // The owner ends the connection because of its client, not of this process.
    void this.#connection.sayLeft(socket).then(() => socket.write(NO_HTTP))
    return true
  }

  #whenConnected(socket: Socket, then: () => void): void {
    if (!socket.connecting) {
      then()
      return
    }
    // A machine that vanishes says nothing, and requests may be held for long.
    socket.setKeepAlive(true, 10_000)
    const over = new AbortController()
    socket.once('close', () => over.abort())
    socket.once('connect', () => {
      over.abort()
      then()
    })
    void this.#deps.wallSleep(CONNECT_MS, over.signal).then(() => {
      if (socket.connecting) socket.destroy(new Error('the owner does not accept the connection'))
    })
  }

  /** Begins to read the body. Not before an owner is reached: until then this process may turn out to be the owner. */
  #read(): void {
    if (this.#reading) return
    this.#reading = true
    const { request } = this.#exchange
    if (request.readableEnded) this.#end()
    else if (request.destroyed) this.#readRest()
    else request.on('data', (chunk: Buffer) => this.#take(chunk)).once('end', () => this.#end())
  }

  /** Reads what has come of a request whose connection has ended. */
  #readRest(): void {
    const { request } = this.#exchange
    if (this.#whole) return
    const rest: Buffer | null = request.read()
    if (rest) this.#take(rest)
    if (request.complete) this.#end()
  }

  #take(chunk: Buffer): void {
    const { request } = this.#exchange
    this.#received += chunk.length
    const isMuch = this.#received > KEPT
    if (isMuch && this.#open) this.#kept = undefined
    this.#kept?.push(chunk)
    if (!this.#open) {
      if (isMuch) request.pause()
      return
    }
    const upstream = this.#upstream
    if (!upstream || upstream.write(chunk) || !isMuch) return
    request.pause()
    upstream.once('drain', () => request.resume())
  }

  #end(): void {
    if (this.#whole) return
    this.#whole = true
    if (this.#open && this.#upstream) this.#finish(this.#upstream)
  }

  #openBody(upstream: ClientRequest): void {
    if (this.#open) return
    this.#open = true
    for (const chunk of this.#kept ?? []) upstream.write(chunk)
    if (this.#whole) this.#finish(upstream)
    else if (this.#reading) this.#exchange.request.resume()
  }

  #finish(upstream: ClientRequest): void {
    const { rawTrailers } = this.#exchange.request
    if (rawTrailers.length > 0) upstream.addTrailers(pairsOf(rawTrailers))
    upstream.end()
  }

  #relay(upstream: ClientRequest, answer: IncomingMessage): void {
    const { response } = this.#exchange
    this.#answer = answer
    this.#kept = undefined
    answer.on('error', () => undefined)
    answer.once('close', () => {
      if (answer.complete) return
      flushHead(response)
      this.#broken(upstream)
    })
    if (this.#connection.socket.destroyed) {
      answer.resume()
      return
    }
    let isWritten = false
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, answer.rawHeaders)
    answer.on('data', (chunk: Buffer) => {
      isWritten = true
      if (!response.write(chunk)) answer.pause()
    })
    response.on('drain', () => answer.resume())
    answer.once('end', () => {
      isWritten = true
      if (answer.rawTrailers.length > 0) response.addTrailers(pairsOf(answer.rawTrailers))
      response.end()
    })
    // The head goes out with what came with it, and alone if nothing did.
    setImmediate(() => {
      if (!isWritten) flushHead(response)
    })
  }

  /** The owner has ended the connection in the middle: the client gets the same end. */
  #broken(upstream: ClientRequest): void {
    if (this.#answer?.complete) return
    const { socket } = this.#connection
    if (socket.destroyed) return
    if (!upstream.socket || !isReset(upstream.socket)) socket.destroySoon()
    else if (socket.writableLength === 0) this.#deps.reset(socket)
    else socket.once('drain', () => this.#deps.reset(socket))
  }

  /** Nothing has been carried out: the owner was not reached, or has said that it is not the owner. */
  async #tryAnother(failed: Owner): Promise<void> {
    const { request } = this.#exchange
    this.#upstream = undefined
    if (this.#offered >= OWNERS || !this.#kept) return this.#giveUp()
    const { again, serve, self } = this.#deps
    let place: OwnerPlace = null
    try {
      place = await again(request, failed)
    } catch {
      // The database that knows the owner does not answer.
    }
    if (place === 'here' && !this.#reading && !request.destroyed) {
      this.#connection.passed(this)
      return serve(this.#exchange)
    }
    if (place === 'here') place = self ?? null
    if (place === null) this.#giveUp()
    else this.to(place)
  }

  #giveUp(): void {
    const { request, response } = this.#exchange
    if (!response.headersSent) this.#deps.unavailable(request, response)
    this.#connection.passed(this)
  }
}

/** No request begins with it, and no chunk: a client's bytes that are not HTTP, as the owner has to see them. */
const NO_HTTP = '\0'

/** Paths whose bodies may be long: calls of a chain, snapshots. The service answers long ones before they have come. */
const BESIDE = /^\/(?:rpc|_sandbox)\//

/** @returns true if the body may be too long to be kept */
function isLong({ headers, url = '' }: IncomingMessage): boolean {
  const length = headers['content-length']
  const mayBe = length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > KEPT
  return mayBe && BESIDE.test(url)
}

/** Sends the head as it is. `flushHeaders()` sends it as UTF-8, in which a byte above 127 becomes two. */
function flushHead(message: OutgoingMessage): void {
  if (!message.destroyed && !message.writableEnded) message.write(Buffer.alloc(0))
}

/** The lines of a request's head. Node refuses to write a Trailer where there can be no trailers: it says nothing there. */
function linesOf({ rawHeaders, headers }: IncomingMessage): string[] {
  if (headers.trailer === undefined || headers['transfer-encoding'] !== undefined) return rawHeaders
  return pairsOf(rawHeaders)
    .filter(([name]) => name.toLowerCase() !== 'trailer')
    .flat()
}

function pairsOf(lines: readonly string[]): [string, string][] {
  return lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? ''] as [string, string]] : []))
}
