import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { jsonObject } from '../support/json.ts'
import { SerialQueue } from '../support/serial-queue.ts'
import type { ChainNews, LogSelection } from './rpc-subscriptions.ts'

/** Bytes of a message, as of the body of a POST. */
const MESSAGE_LIMIT = 10 * 1024 * 1024
/** Most connections of a sandbox and its guests, subscriptions of a connection, and messages of one that wait for their turn. */
const MAX_SOCKETS = 256
const MAX_SUBSCRIPTIONS = 32
const MAX_WAITING = 100
/** Bytes that wait for a client that does not read: then it is disconnected. */
const MAX_UNREAD = 16 * 1024 * 1024
/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const POLICY = 1008
const TRY_LATER = 1013

/** Code of JSON-RPC for parameters that cannot be. */
const INVALID_PARAMS = -32_602

/** A chain as one connection may use it. */
export interface SocketChain {
  /** Answers a message as the body of a POST; undefined if the client expects nothing. Never rejects. */
  answer(text: string): Promise<string | undefined>
  news: ChainNews
  /** Aborted when its namespace ends, and the connection with it. */
  end: AbortSignal
}

/** Dependencies of {@link RpcSockets}. */
export interface RpcSocketsDeps {
  /** The chain of a request, or null when it was refused: then it has its answer. */
  admit(request: IncomingMessage, socket: Duplex): Promise<SocketChain | null>
}

/** JSON-RPC over WebSockets: the same calls as by POST, within the same budget, and `eth_subscribe` to `newHeads` and `logs`. */
export class RpcSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_LIMIT, perMessageDeflate: false })
  readonly #admit: RpcSocketsDeps['admit']

  constructor({ admit }: RpcSocketsDeps) {
    this.#admit = admit
  }

  /** A listener for the server's event `upgrade`. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    this.#admit(request, socket).then(
      (chain) => {
        if (chain) this.#server.handleUpgrade(request, socket, head, (client) => this.#serve(client, chain))
      },
      () => socket.destroy(),
    )
  }

  /** Ends all connections. */
  close(): void {
    for (const client of this.#server.clients) client.close(GOING_AWAY, 'the sandbox ends')
    this.#server.close()
  }

  #serve(client: WebSocket, chain: SocketChain): void {
    if (this.#server.clients.size > MAX_SOCKETS) {
      client.close(TRY_LATER, `more than ${MAX_SOCKETS} connections`)
      return
    }
    const subscriptions = new Subscriptions(client, chain.news)
    const queue = new SerialQueue()
    let waiting = 0
    client.on('error', () => client.terminate())
    const leave = () => {
      subscriptions.end() // now: it may take the client long to close its side
      client.close(GOING_AWAY, 'the namespace has ended')
    }
    chain.end.addEventListener('abort', leave)
    client.on('close', () => {
      chain.end.removeEventListener('abort', leave)
      subscriptions.end()
    })
    client.on('message', (data) => {
      waiting += 1
      if (waiting > MAX_WAITING) return client.close(POLICY, `more than ${MAX_WAITING} messages wait`)
      void queue.run(async () => {
        const text = String(data)
        const answer = subscriptions.answer(text) ?? (await chain.answer(text))
        waiting -= 1
        if (answer !== undefined) send(client, answer)
      })
    })
  }
}

function send(client: WebSocket, text: string): void {
  if (client.bufferedAmount > MAX_UNREAD) client.terminate()
  else client.send(text)
}

/** The subscriptions of a connection. */
class Subscriptions {
  readonly #client: WebSocket
  readonly #news: ChainNews
  readonly #ends = new Map<string, () => void>()
  #issued = 0

  constructor(client: WebSocket, news: ChainNews) {
    this.#client = client
    this.#news = news
  }

  end(): void {
    for (const end of this.#ends.values()) end()
    this.#ends.clear()
  }

  /** The answer to a message about subscriptions; undefined for every other. */
  answer(text: string): string | undefined {
    if (!text.includes('subscribe')) return undefined
    const { id, method, params } = jsonObject(text) ?? {}
    if (method !== 'eth_subscribe' && method !== 'eth_unsubscribe') return undefined
    const given = Array.isArray(params) ? params : []
    const outcome = method === 'eth_subscribe' ? this.#subscribe(given) : { result: this.#unsubscribe(given[0]) }
    return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...outcome })
  }

  #subscribe([kind, filter]: unknown[]): object {
    if (this.#ends.size >= MAX_SUBSCRIPTIONS)
      return fault(-32_005, `more than ${MAX_SUBSCRIPTIONS} subscriptions, the limit of a connection`)
    if (kind !== 'newHeads' && kind !== 'logs') {
      return fault(INVALID_PARAMS, 'params[0]: newHeads and logs are offered; transactions that wait are not')
    }
    const id = `0x${(++this.#issued).toString(16)}`
    const notify = (result: object) =>
      send(
        this.#client,
        JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: id, result } }),
      )
    this.#ends.set(
      id,
      kind === 'newHeads' ? this.#news.heads(notify) : this.#news.logs((filter ?? {}) as LogSelection, notify),
    )
    return { result: id }
  }

  #unsubscribe(id: unknown): boolean {
    const end = this.#ends.get(String(id))
    end?.()
    return this.#ends.delete(String(id))
  }
}

function fault(code: number, message: string): object {
  return { error: { code, message } }
}
