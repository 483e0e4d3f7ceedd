import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { clientLeftHeader } from './forwarded-header.ts'
import type { Owner } from './owner.ts'

/** How a client has left: it has ended its side only, closed the connection, or reset it. */
export type Leaving = 'ended' | 'closed' | 'reset'

/** A request of a client on its way through this process. */
export interface Passing {
  clientLeft(how: Leaving): void
  /** The client has sent bytes that are not HTTP. @returns false if the owner cannot be asked for an answer */
  clientBroke(): boolean
}

/** Milliseconds of real time for the word that a client has left. */
const WORD_MS = 1_000

const CLIENT = Symbol('client connection')

interface ClientSocket extends Socket {
  [CLIENT]?: ClientConnection
}

/**
 * A client's connection, with one connection of its own to each owner that its requests went to: so an owner can tell the connections of
 * clients apart, and an end on one side becomes the same end on the other.
 */
export class ClientConnection {
  /** The connection of a socket; made at the first call. */
  static of(socket: Socket): ClientConnection {
    const client: ClientSocket = socket
    client[CLIENT] ??= new ClientConnection(socket)
    return client[CLIENT]
  }

  /** The connection of a socket; undefined if {@link ClientConnection.of} has not made one. */
  static known(socket: Socket): ClientConnection | undefined {
    const client: ClientSocket = socket
    return client[CLIENT]
  }

  readonly passing = new Set<Passing>()
  readonly #agents = new Map<string, Agent>()
  /** Connections to owners. */
  readonly #upstream = new Map<Socket, Owner>()
  /** The word to their owners that the client has left. */
  readonly #words = new Map<Socket, Promise<void>>()
  #left: Leaving | undefined
  #cut = false

  private constructor(readonly socket: Socket) {
    // It may have left while the owner was looked up.
    if (socket.destroyed) this.#left = isReset(socket) ? 'reset' : 'closed'
    else if (socket.readableEnded) this.#left = 'ended'
    socket.once('end', () => this.#leave('ended'))
    socket.once('close', () => this.#leave(isReset(socket) ? 'reset' : 'closed'))
  }

  /** How the client has left; undefined while it is there. */
  get left(): Leaving | undefined {
    return this.#left
  }

  /** The agent for requests to that owner: one connection, on which they go one after another. */
  agentFor({ host, port }: Owner): Agent {
    const address = addressOf({ host, port })
    const known = this.#agents.get(address)
    if (known) return known
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    this.#agents.set(address, agent)
    return agent
  }

  /** Notes a connection to an owner, which ends with the client's. */
  joined(upstream: Socket, owner: Owner): void {
    if (this.#upstream.has(upstream)) return
    this.#upstream.set(upstream, owner)
    upstream.once('close', () => {
      this.#upstream.delete(upstream)
      this.#words.delete(upstream)
    })
  }

  /** Ends the connections to an owner that is dead for the others: it may be unable to end them itself. */
  partFrom(owner: Owner): void {
    const address = addressOf(owner)
    for (const [socket, known] of this.#upstream) if (addressOf(known) === address) socket.destroy()
  }

  /** Ends the client's connection because this process ends: the client has not left. */
  cut(): void {
    this.#cut = true
    this.socket.destroy()
  }

  /**
   * Says to the owner that the client has left, or sends what is not HTTP, before the connection to the owner ends: that ends also when this
   * process is killed, and then the client has done nothing. Resolves when the owner knows, or cannot be reached.
   */
  sayLeft(upstream: Socket): Promise<void> {
    const owner = this.#upstream.get(upstream)
    const { localPort } = upstream
    if (this.#cut || !owner || localPort === undefined) return Promise.resolve()
    const known = this.#words.get(upstream)
    if (known) return known
    const word = sendWord(owner, localPort)
    this.#words.set(upstream, word)
    return word
  }

  /** Forgets a request that is over. */
  passed(passing: Passing): void {
    this.passing.delete(passing)
    if (this.passing.size === 0 && this.#left && this.#left !== 'ended') this.#endUpstream(this.#left)
  }

  #leave(how: Leaving): void {
    this.#left = how
    for (const passing of this.passing) passing.clientLeft(how)
    if (this.passing.size === 0 && how !== 'ended') this.#endUpstream(how)
  }

  #endUpstream(how: Leaving): void {
    for (const socket of this.#upstream.keys()) {
      // A client that closes with its answer unread resets: the owner has to learn that.
      if (how === 'reset') void this.sayLeft(socket).then(() => socket.resetAndDestroy())
      else socket.destroySoon()
    }
  }
}

function sendWord({ host, port, secret }: Owner, leftPort: number): Promise<void> {
  return new Promise((resolve) => {
    const headers = [...clientLeftHeader(leftPort, secret), 'Host', host]
    const word = request({ host, port, agent: false, setHost: false, method: 'POST', headers, timeout: WORD_MS })
    word.once('response', (answer) => answer.resume())
    word.once('timeout', () => word.destroy()).on('error', () => undefined)
    word.once('close', () => resolve())
    word.end()
  })
}

function addressOf({ host, port }: Pick<Owner, 'host' | 'port'>): string {
  return `${host} ${port}`
}

/** @returns true if the other end, or the system of a process that was killed, has reset the connection */
export function isReset({ errored }: Socket): boolean {
  return errored !== null && 'code' in errored && (errored.code === 'ECONNRESET' || errored.code === 'EPIPE')
}
