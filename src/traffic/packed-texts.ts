/** Texts in a piece of memory. */
const PIECE = 500

/**
 * Texts of one length in ASCII, by index, outside of the heap: the garbage collector neither copies nor looks at them. Memory is taken
 * in pieces, as far as there are texts.
 */
export class PackedTexts {
  readonly #length: number
  readonly #pieces: Buffer[] = []

  constructor(length: number) {
    this.#length = length
  }

  set(index: number, text: string): void {
    this.#piece(index).write(text, (index % PIECE) * this.#length, this.#length, 'latin1')
  }

  get(index: number): string {
    const start = (index % PIECE) * this.#length
    return this.#piece(index).toString('latin1', start, start + this.#length)
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
