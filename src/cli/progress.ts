import { CLEAR_LINE, canRenew } from './first-words.ts'

/**
 * The line at the end of a terminal that says what goes on, and is replaced by the next. It shows nothing on other streams. Whoever prints
 * something on the same terminal ends it before.
 */
class ProgressLine {
  readonly #screen: NodeJS.WriteStream
  #shown = false

  constructor(screen: NodeJS.WriteStream) {
    this.#screen = screen
  }

  /** `shown`: such a line is there already. */
  begin(shown: boolean): void {
    this.#shown = shown
  }

  show(text: string): void {
    if (!canRenew(this.#screen)) return
    const { columns = 80 } = this.#screen
    this.#screen.write(CLEAR_LINE + `yield-sandbox: ${text} …`.slice(0, columns - 1))
    this.#shown = true
  }

  end(): void {
    if (this.#shown) this.#screen.write(CLEAR_LINE)
    this.#shown = false
  }
}

/** That of this process: a terminal has one last line, whoever writes on it. */
export const progress = new ProgressLine(process.stderr)
