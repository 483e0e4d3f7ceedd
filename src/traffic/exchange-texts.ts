import type { Arrival } from './live-exchange.ts'

/** Headers of a request that are kept; a client sends a dozen. Each a name and a value. */
const MAX_HEADERS = 100
/** Bytes that each text of its headers takes beside its characters. */
const TEXT_BYTES = 24

/**
 * Lets a request that arrives have the texts of the one before where they are the same, as most of what a client sends is: what is kept anew
 * is dear, not what is compared.
 */
export class SharedTexts {
  #headers: readonly string[] = []
  #headersSize = 0
  #url = ''

  /** @returns how many bytes the texts take, as if they were its own */
  share(arrival: Arrival): number {
    if (arrival.url === this.#url) arrival.url = this.#url
    else this.#url = arrival.url
    if (equal(arrival.headers, this.#headers)) arrival.headers = this.#headers
    else this.#take(arrival)
    return this.#headersSize + arrival.url.length
  }

  #take(arrival: Arrival): void {
    if (arrival.headers.length > 2 * MAX_HEADERS) arrival.headers = arrival.headers.slice(0, 2 * MAX_HEADERS)
    this.#headers = arrival.headers
    this.#headersSize = arrival.headers.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
  }
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Texts in a piece of memory. */
const PIECE = 500
/** Texts that are written at once: to write each is dear, and few of so many are looked at by the garbage collector before. */
const AT_ONCE = 50

/**
 * Texts of one length in ASCII, by index, outside of the heap: the garbage collector neither copies nor looks at them. Memory is taken
 * in pieces, as far as there are texts.
 */
export class PackedTexts {
  readonly #length: number
  readonly #pieces: Buffer[] = []
  /** Set last, one after the other from `#from` on, and not yet written. */
  #recent: string[] = []
  #from = 0

  constructor(length: number) {
    this.#length = length
  }

  set(index: number, text: string): void {
    if (index !== this.#from + this.#recent.length || index % AT_ONCE === 0) {
      this.#write()
      this.#from = index
    }
    this.#recent.push(text)
  }

  get(index: number): string {
    const recent = this.#recent[index - this.#from]
    if (recent !== undefined) return recent
    const start = (index % PIECE) * this.#length
    return this.#piece(index).toString('latin1', start, start + this.#length)
  }

  /** Never beyond the end of a piece, which is a multiple of how many are written at once. */
  #write(): void {
    const start = (this.#from % PIECE) * this.#length
    this.#piece(this.#from).write(this.#recent.join(''), start, 'latin1')
    this.#recent = []
  }

  #piece(index: number): Buffer {
    const at = Math.floor(index / PIECE)
    const known = this.#pieces[at]
    if (known) return known
    const made = Buffer.alloc(PIECE * this.#length)
    this.#pieces[at] = made
    return made
  }
}
