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
