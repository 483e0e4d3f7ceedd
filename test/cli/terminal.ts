import { Writable } from 'node:stream'

/** A terminal as far as a display that redraws itself needs one: lines, the cursor up, clearing below it, and showing the cursor. */
export class Terminal extends Writable {
  readonly isTTY = true
  columns: number
  readonly rows: number
  /** Whether the cursor is shown. */
  cursor = true
  #rows = ['']
  #at = 0

  constructor(columns: number, rows: number) {
    super({ decodeStrings: false })
    this.columns = columns
    this.rows = rows
  }

  /** What stands on it, without colours and without an empty last line. */
  get lines(): string[] {
    return this.#rows.at(-1) === '' ? this.#rows.slice(0, -1) : [...this.#rows]
  }

  /** Makes it narrower; lines that are too long by then are broken. */
  resize(columns: number): void {
    this.columns = columns
    this.#rows = this.#rows.flatMap((row) => broken(row, columns))
    this.#at = this.#rows.length - 1
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal obeys
    for (const [token] of text.matchAll(/\u001b\[[?\d;]*[A-Za-z]|\n|[^\u001b\n]+/g)) this.#obey(token)
    done()
  }

  #obey(token: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal obeys
    const [, parameter = '', letter] = /^\u001b\[([?\d;]*)([A-Za-z])$/.exec(token) ?? []
    if (token === '\n') {
      this.#at++
      this.#rows[this.#at] ??= ''
    } else if (letter === 'A') this.#at = Math.max(0, this.#at - Number(parameter))
    else if (letter === 'J') this.#rows.splice(this.#at, Number.POSITIVE_INFINITY, '')
    else if (parameter === '?25') this.cursor = letter === 'h'
    else if (letter === undefined) {
      const rows = broken((this.#rows[this.#at] ?? '') + token, this.columns)
      this.#rows.splice(this.#at, 1, ...rows)
      this.#at += rows.length - 1
    }
  }
}

function broken(row: string, columns: number): string[] {
  return row === '' ? [''] : (row.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [])
}
