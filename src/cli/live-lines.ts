import { stripVTControlCharacters } from 'node:util'

/** A stream that may be a terminal. */
export type Screen = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number }

/** Sequences of ECMA-48 and of DEC's terminals, which all have by now. */
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const upAndClear = (lines: number) => `\u001b[${lines}A\u001b[J`

/** Lines at the end of a terminal that are replaced where they stand. */
export class LiveLines {
  readonly #screen: Screen
  /** How wide each of those is that stand there. */
  #drawn: number[] = []

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** Replaces what stands there. Where there is not enough room, by the last line alone: what scrolled away could not be replaced. */
  show(lines: readonly string[]): void {
    const { columns = 80, rows = 24 } = this.#screen
    const fits = lines.length < rows && lines.every((line) => widthOf(line) < columns)
    const shown = fits ? lines : lines.slice(-1).map((line) => stripVTControlCharacters(line).slice(0, columns - 1))
    this.#screen.write(`${this.#erasure() || HIDE_CURSOR}${shown.join('\n')}\n`)
    this.#drawn = shown.map(widthOf)
  }

  /** Takes away what stands there, and gives the cursor back. */
  end(): void {
    const erasure = this.#erasure()
    if (erasure !== '') this.#screen.write(erasure + SHOW_CURSOR)
    this.#drawn = []
  }

  /** A terminal that was made narrower since has broken its lines. */
  #erasure(): string {
    const { columns = 80 } = this.#screen
    const lines = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return lines === 0 ? '' : upAndClear(lines)
  }
}

function widthOf(line: string): number {
  return stripVTControlCharacters(line).length
}
