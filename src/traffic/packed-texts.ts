/** Number of texts in a piece of memory. */
const PIECE = 500
/** Number of texts that are written together: single writes are expensive, and so few texts rarely meet the garbage collector before. */
const AT_ONCE = 50

/**
 * ASCII texts of one length, by index, outside of the heap: the garbage collector neither copies nor visits them. Memory is
 * allocated in pieces as needed.
 */
export class PackedTexts {
  readonly #length: number
  readonly #pieces: Buffer[] = []
  /** The texts set last, from index `#from` on, not written yet. */
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

  /** Never crosses the end of a piece, since a piece holds a multiple of the texts written together. */
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
