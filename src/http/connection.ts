import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { LiveExchange } from '../traffic/live-exchange.ts'

/** An exchange whose answer may not be out yet. */
export interface Pending {
  log: ExchangeLog
  live: LiveExchange
  /** The value of `live.use` at that time. If it differs, the exchange is over and `live` serves a later one. */
  use: number
  response: ServerResponse
}

const CONNECTION = Symbol('connection')
const PASSED_ON = Symbol('passed on')

interface ConnectedSocket extends Socket {
  [CONNECTION]?: Connection
  /** True while another process passes on what comes on it, and has not said that the client has left. */
  [PASSED_ON]?: boolean
}

/** Notes that another process passes on what comes on this connection. If it ends before {@link noteClientLeft}, that process has ended. */
export function notePassedOn(socket: Socket): void {
  const connected: ConnectedSocket = socket
  connected[PASSED_ON] = true
}

/** Notes that the client of a connection that is passed on has left. */
export function noteClientLeft(socket: Socket): void {
  const connected: ConnectedSocket = socket
  connected[PASSED_ON] = false
}

/** How an exchange ends whose connection has closed: by its client, or with the process that passed it on. */
export function endOnClose(socket: ConnectedSocket): 'abandoned' | 'cut_off' {
  return socket[PASSED_ON] ? 'cut_off' : 'abandoned'
}

/**
 * A client's connection, for records of exchanges: its ordinal, and the fate of its exchanges when it closes. It listens only to the end
 * of the connection: a listener per answer costs noticeable time at tens of thousands of requests a second.
 */
export class Connection {
  /** The connection of a socket; made at the first call. */
  static of(socket: Socket): Connection {
    const connected: ConnectedSocket = socket
    const known = connected[CONNECTION]
    if (known) return known
    const made = new Connection()
    connected[CONNECTION] = made
    socket.once('close', () => made.#close(endOnClose(socket), isReset(socket)))
    return made
  }

  /** The connection of a socket; undefined if {@link Connection.of} has not made one. */
  static known(socket: Socket): Connection | undefined {
    const connected: ConnectedSocket = socket
    return connected[CONNECTION]
  }

  /** Records a request that has not entered its namespace yet, because it waits for a body that may never arrive. */
  enter: (() => void) | undefined
  #log: ExchangeLog | undefined
  #generation = 0
  #ordinal = 0
  /**
   * Its ordinals in the namespaces that used it before, by their logs. Weak: a client's pool keeps a connection for as long as it runs, and
   * would keep all namespaces deleted since alive.
   */
  #others: WeakMap<ExchangeLog, { generation: number; ordinal: number }> | undefined
  /** The last exchange that began on it; `#pipelined` has earlier ones whose answers wait for their turn. */
  #live: LiveExchange | undefined
  #use = 0
  #response: ServerResponse | undefined
  #pipelined: Pending[] | undefined

  /** Its ordinal in a namespace, from 1; a new one after a reset. */
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

  /** Notes that an exchange has begun, in the namespace whose ordinal was requested last. */
  began(live: LiveExchange, response: ServerResponse): void {
    this.#settle()
    this.#live = live
    this.#use = live.use
    this.#response = response
  }

  /** Notes a request that is not recorded: its client has received the earlier answers. */
  goesOn(): void {
    this.#settle()
  }

  /** The last exchange on it, if it has no answer yet. */
  get unanswered(): Pending | undefined {
    this.enter?.()
    const last = this.#last
    return last && isThere(last) && last.live.end === 'open' ? last : undefined
  }

  /** The last exchange on it; undefined if something else came after it. */
  get #last(): Pending | undefined {
    const log = this.#log
    const live = this.#live
    const response = this.#response
    return log && live && response && { log, live, use: this.#use, response }
  }

  /** Forgets the last exchange, unless its answer is not out yet: then it is kept as pipelined. */
  #settle(): void {
    if (this.#pipelined) this.#pipelined = this.#pipelined.filter(isPending)
    const live = this.#live
    const response = this.#response
    if (!live || !response) return
    // Creates no object for exchanges that are over, as nearly all are: the cost shows at tens of thousands of requests a second.
    const last = live.use === this.#use && live.end !== 'open' && response.writableFinished ? undefined : this.#last
    this.#live = undefined
    this.#response = undefined
    if (last) this.#pipelined = [...(this.#pipelined ?? []), last]
  }

  /** `reset`: the client reset the connection, and so discarded the bytes that it had not read. */
  #close(end: 'abandoned' | 'cut_off', reset: boolean): void {
    this.enter?.()
    const last = this.#last
    const pending = [...(this.#pipelined ?? []), ...(last ? [last] : [])]
    for (const { log, live, response } of pending.filter(isThere)) {
      if (live.end === 'open') log.end(live, end)
      else if (live.end !== 'answered') continue
      // The answer was handed over, but Node had not yet sent it.
      else if (!response.writableFinished) log.endAgain(live, end)
      else if (reset && end === 'abandoned') log.takeUnread(live)
    }
    this.#pipelined = undefined
    this.#live = undefined
    this.#response = undefined
  }
}

/** @returns true after a TCP reset: a client resets if it closes before it has read everything, and so does the system of a killed one */
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

/** The TCP socket under each TLS socket: only that one can be reset. */
const carriers = new WeakMap<Socket, Socket>()

/** Notes the TCP socket under each TLS socket of a server. Does nothing for a server without TLS. */
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
