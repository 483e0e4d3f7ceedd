/** Separates the head of a message from its body. */
export const HEAD_END = '\r\n\r\n'
/** Limit of a head in bytes. */
const MAX_HEAD = 16 * 1024
const LENGTH = /\r\ncontent-length: *(\d{1,10})(?=\r\n|$)/i

/** A request or response of HTTP/1.1. */
export interface HttpMessage {
  /** First line and headers. */
  head: string
  body: string
}

/**
 * Reads the messages of a connection between an Anvil and this process: HTTP/1.1 whose heads have the length of the body. Node's own
 * parser and streams take several times as long, which is more than the rest of a call.
 */
export class HttpMessageReader {
  #chunks: Buffer[] = []
  #size = 0
  /** Number of bytes without which the next message is known to be incomplete. */
  #wanted = HEAD_END.length

  /** True if nothing has come but the messages that were taken. */
  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  /**
   * Takes the next message; undefined until it has come. Calls `examine` as soon as its head has, and throws what that throws, or an
   * Error if there is no head with a length.
   */
  take(examine: (head: string, length: number) => void): HttpMessage | undefined {
    if (this.#size < this.#wanted) return undefined
    const [first, ...others] = this.#chunks
    if (!first) return undefined
    const received = others.length === 0 ? first : Buffer.concat(this.#chunks)
    this.#chunks = [received]
    const headEnd = received.indexOf(HEAD_END)
    if (headEnd === -1) {
      if (received.length > MAX_HEAD) throw new Error('its head is too long')
      this.#wanted = received.length + 1
      return undefined
    }
    const head = received.toString('latin1', 0, headEnd)
    const length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
    if (Number.isNaN(length)) throw new Error('its head has no length')
    examine(head, length)
    const start = headEnd + HEAD_END.length
    this.#wanted = start + length
    if (received.length < this.#wanted) return undefined
    return { head, body: this.#cut(received, start) }
  }

  /** Takes the message that is wanted off what was received, and returns its body, which begins at `start`. */
  #cut(received: Buffer, start: number): string {
    const end = this.#wanted
    const rest = received.subarray(end)
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#size = rest.length
    this.#wanted = HEAD_END.length
    return received.toString('utf8', start, end)
  }
}
