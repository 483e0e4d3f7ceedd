import { connect, type Socket } from 'node:net'

/** An answer as it came, the body whole. */
export interface WireAnswer {
  status: number
  /** Names in lower case; of several with one name the last. */
  headers: Map<string, string>
  body: Buffer
}

/** How an exchange ended that had no proper answer. */
export type Silence = 'closed' | 'timeout' | 'garbled'

const HEAD_END = Buffer.from('\r\n\r\n')

/** A kept-alive connection that sends bytes as they stand and reads one answer to them. One exchange at a time. */
export class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #settle: ((result: WireAnswer | Silence) => void) | undefined
  #toHead = false

  constructor(port: number) {
    this.#port = port
  }

  /** `patience`: milliseconds. `head`: the answer has no body, whatever it says. */
  send(bytes: Buffer, options: { patience: number; head?: boolean; alone?: boolean }): Promise<WireAnswer | Silence> {
    const { patience, head = false, alone = false } = options
    if (alone) this.close()
    this.#toHead = head
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish('timeout'), patience)
      const finish = (result: WireAnswer | Silence) => {
        clearTimeout(timer)
        this.#settle = undefined
        if (alone || typeof result === 'string' || result.headers.get('connection') === 'close') this.close()
        resolve(result)
      }
      this.#settle = finish
      this.#open().write(bytes)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#received = Buffer.alloc(0)
  }

  #open(): Socket {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket
    this.close()
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true })
    this.#socket = socket
    socket.on('data', (chunk) => {
      if (socket === this.#socket) this.#read(chunk)
    })
    socket.on('error', () => undefined) // 'close' follows
    socket.on('close', () => {
      if (socket !== this.#socket) return
      this.#socket = undefined
      this.#settle?.(this.#untilClosed() ?? 'closed')
    })
    return socket
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const head = headOf(this.#received)
    if (!head) {
      if (this.#received.length > 64 * 1024 || !/^HTTP/.test(this.#received.toString('latin1', 0, 4))) this.#garbled()
      return
    }
    if (head.status < 200) {
      this.#received = this.#received.subarray(head.end)
      if (this.#received.length > 0) this.#read(Buffer.alloc(0))
      return
    }
    const body = bodyOf(this.#received.subarray(head.end), head, this.#toHead)
    if (body === undefined) return
    if (body === 'garbled') {
      this.#garbled()
      return
    }
    this.#received = this.#received.subarray(head.end + body.length)
    // What nobody asked for would be taken for the next request's answer.
    if (this.#received.length > 0) this.close()
    this.#settle?.({ ...head, body: body.content })
  }

  /** An answer without a length lasts until the connection is closed. */
  #untilClosed(): WireAnswer | undefined {
    const head = headOf(this.#received)
    if (!head || head.headers.has('content-length') || head.headers.has('transfer-encoding')) return undefined
    return { ...head, body: this.#received.subarray(head.end) }
  }

  #garbled(): void {
    this.#settle?.('garbled')
    this.close()
  }
}

interface Head {
  status: number
  headers: Map<string, string>
  /** Where the body begins. */
  end: number
}

function headOf(received: Buffer): Head | undefined {
  const end = received.indexOf(HEAD_END)
  if (end === -1) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0), headers, end: end + HEAD_END.length }
}

interface Body {
  content: Buffer
  /** On the wire. */
  length: number
}

/** The body, once it is there. */
function bodyOf(rest: Buffer, { status, headers }: Head, toHead: boolean): Body | undefined | 'garbled' {
  const none = { content: Buffer.alloc(0), length: 0 }
  if (toHead || status === 204 || status === 304) return none
  if (headers.get('transfer-encoding') === 'chunked') return chunked(rest)
  const length = headers.get('content-length')
  if (length === undefined) return undefined
  if (!/^\d+$/.test(length)) return 'garbled'
  return rest.length < Number(length)
    ? undefined
    : { content: rest.subarray(0, Number(length)), length: Number(length) }
}

function chunked(rest: Buffer): Body | undefined | 'garbled' {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = rest.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, line), 16)
    if (Number.isNaN(size)) return 'garbled'
    const next = line + 2 + size + 2
    if (rest.length < next) return undefined
    if (size === 0) return { content: Buffer.concat(parts), length: next }
    parts.push(rest.subarray(line + 2, line + 2 + size))
    at = next
  }
}
