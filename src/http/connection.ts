import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
    socket.once('close', () => made.#close())
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
  /** Ordinals in the namespaces it was used for before, by their logs. */
  #others: Map<ExchangeLog, { generation: number; ordinal: number }> | undefined
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
      this.#others ??= new Map()
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

  /** The exchange on it that came last, if nothing has been answered to it. */
  get unanswered(): Pending | undefined {
    this.enter?.()
    if (!this.#live || !this.#log || !this.#response) return undefined
    const pending = { live: this.#live, use: this.#use, log: this.#log, response: this.#response }
    return isThere(pending) && pending.live.end === 'open' ? pending : undefined
  }

  /** The last exchange is over, unless its answer is not out: then it is kept in mind. */
  #settle(): void {
    const live = this.#live
    const response = this.#response
    if (!live || !response || !this.#log) return
    this.#live = undefined
    this.#response = undefined
    if (live.use === this.#use && live.end !== 'open' && response.writableFinished) return
    const waiting = this.#pipelined?.filter(isPending) ?? []
    this.#pipelined = [...waiting, { log: this.#log, live, use: this.#use, response }]
  }

  #close(): void {
    this.enter?.()
    this.#settle()
    for (const pending of this.#pipelined?.filter(isThere) ?? []) {
      const { log, live, response } = pending
      if (live.end === 'open') log.end(live, 'abandoned')
      // It was handed over, but Node had not yet sent it.
      else if (live.end === 'answered' && !response.writableFinished) log.endAgain(live, 'abandoned')
    }
    this.#pipelined = undefined
  }
}

function isPending(pending: Pending): boolean {
  const { live, response } = pending
  return isThere(pending) && (live.end === 'open' || !response.writableFinished)
}

function isThere({ live, use }: Pending): boolean {
  return live.use === use
}
