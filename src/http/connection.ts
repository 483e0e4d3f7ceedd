import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { LiveExchange } from '../traffic/live-exchange.ts'

/** An exchange whose answer may not be out yet. */
export interface Pending {
  log: ExchangeLog
  live: LiveExchange
  /** When that of `live` is another one, the exchange is over and forgotten, and the object used for a later one. */
  use: number
  response: ServerResponse
}

const CONNECTION = Symbol('connection')

interface ConnectedSocket extends Socket {
  [CONNECTION]?: Connection
}

/**
 * A client's connection, as records of exchanges need it: which one it is, and what became of the exchanges on it when it closes. It
 * listens to the end of the connection alone: a listener for each answer would be felt at tens of thousands of requests a second.
 */
export class Connection {
  /** That of a socket, made with the first request on it. */
  static of(socket: Socket): Connection {
    const connected: ConnectedSocket = socket
    const known = connected[CONNECTION]
    if (known) return known
    const made = new Connection()
    connected[CONNECTION] = made
    socket.once('close', () => made.#close(isReset(socket)))
    return made
  }

  /** That of a socket on which a request has come. */
  static known(socket: Socket): Connection | undefined {
    const connected: ConnectedSocket = socket
    return connected[CONNECTION]
  }

  /** Records a request that has not entered its namespace yet: it waits for the body, which may never come. */
  enter: (() => void) | undefined
  #log: ExchangeLog | undefined
  #generation = 0
  #ordinal = 0
  /**
   * Ordinals in the namespaces it was used for before, by their logs. Weak: a client's pool keeps a connection for as long as it runs,
   * and would keep with it every namespace that was deleted since.
   */
  #others: WeakMap<ExchangeLog, { generation: number; ordinal: number }> | undefined
  /** The last exchange that began on it, and those before it whose answers wait for their turn. */
  #live: LiveExchange | undefined
  #use = 0
  #response: ServerResponse | undefined
  #pipelined: Pending[] | undefined

  /** Its ordinal in a namespace, from 1; another one after a reset. */
  ordinalIn(log: ExchangeLog): number {
    if (this.#log === log && this.#generation === log.generation) return this.#ordinal
    this.#settle()
    if (this.#log) {
      this.#others ??= new WeakMap()
      this.#others.set(this.#log, { generation: this.#generation, ordinal: this.#ordinal })
    }
    const known = this.#others?.get(log)
    this.#log = log
    this.#generation = log.generation
    this.#ordinal = known?.generation === log.generation ? known.ordinal : log.nextConnection()
    return this.#ordinal
  }

  /** Notes that an exchange has begun, in the namespace whose ordinal was asked for last. */
  began(live: LiveExchange, response: ServerResponse): void {
    this.#settle()
    this.#live = live
    this.#use = live.use
    this.#response = response
  }

  /** Notes a request that is not recorded: whoever sends it has got what was answered before. */
  goesOn(): void {
    this.#settle()
  }

  /** The exchange on it that came last, if nothing has been answered to it. */
  get unanswered(): Pending | undefined {
    this.enter?.()
    const last = this.#last
    return last && isThere(last) && last.live.end === 'open' ? last : undefined
  }

  /** The exchange that came last; undefined when something else came after it. */
  get #last(): Pending | undefined {
    const log = this.#log
    const live = this.#live
    const response = this.#response
    return log && live && response && { log, live, use: this.#use, response }
  }

  /** The last exchange is over, unless its answer is not out: then it is kept in mind. */
  #settle(): void {
    if (this.#pipelined) this.#pipelined = this.#pipelined.filter(isPending)
    const live = this.#live
    const response = this.#response
    if (!live || !response) return
    // Nothing is made for what is over, as nearly all is: that would be felt at tens of thousands of requests a second.
    const last = live.use === this.#use && live.end !== 'open' && response.writableFinished ? undefined : this.#last
    this.#live = undefined
    this.#response = undefined
    if (last) this.#pipelined = [...(this.#pipelined ?? []), last]
  }

  /** `reset`: by the client, which throws away what it has not read. */
  #close(reset: boolean): void {
    this.enter?.()
    const last = this.#last
    const pending = [...(this.#pipelined ?? []), ...(last ? [last] : [])]
    for (const { log, live, response } of pending.filter(isThere)) {
      if (live.end === 'open') log.end(live, 'abandoned')
      else if (live.end !== 'answered') continue
      // It was handed over, but Node had not yet sent it.
      else if (!response.writableFinished) log.endAgain(live, 'abandoned')
      else if (reset) live.unread = true
    }
    this.#pipelined = undefined
    this.#live = undefined
    this.#response = undefined
  }
}

/** A client that closes a connection without having read everything resets it, and so does the system of one that is killed. */
function isReset({ errored }: Socket): boolean {
  return errored !== null && 'code' in errored && errored.code === 'ECONNRESET'
}

function isPending(pending: Pending): boolean {
  const { live, response } = pending
  return isThere(pending) && (live.end === 'open' || !response.writableFinished)
}

function isThere({ live, use }: Pending): boolean {
  return live.use === use
}

/** By a TLS socket, the TCP socket it runs over: that alone can be reset. */
const carriers = new WeakMap<Socket, Socket>()

/** Notes which TCP socket each TLS socket of a server runs over. For a server without TLS, it notes nothing. */
export function noteCarriers(server: Server): void {
  const accepted = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    accepted.set(peer, socket)
    socket.once('close', () => {
      if (accepted.get(peer) === socket) accepted.delete(peer)
    })
  })
  server.on('secureConnection', (socket: Socket) => {
    const carrier = accepted.get(peerOf(socket))
    if (carrier) carriers.set(socket, carrier)
  })
}

/** Ends a connection with a TCP reset. */
export function resetConnection(socket: Socket): void {
  const carrier = carriers.get(socket)
  ;(carrier ?? socket).resetAndDestroy()
  if (carrier) socket.destroy()
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
