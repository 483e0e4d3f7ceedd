import { plainText } from './safe-text.ts'

/** Options of text for a terminal. */
export interface TextTerms {
  /** Columns; default: 100. */
  width?: number
  /** True for colours and bold type. */
  colour?: boolean
  /** True for everything, not only failures. */
  verbose?: boolean
}

/** Wraps and paints lines for a terminal, by Select Graphic Rendition of ECMA-48. */
export class Typesetter {
  readonly #terms: TextTerms

  constructor(terms: TextTerms) {
    this.#terms = terms
  }

  paint(sgr: string, text: string): string {
    return this.#terms.colour ? `\u001b[${sgr}m${text}\u001b[0m` : text
  }

  /** The whole text in one colour. */
  whole(sgr: string, text: string): string[] {
    return this.wrap('', text).map((line) => this.paint(sgr, line))
  }

  /** The text behind a sign, the sign in its colour. */
  signed(sign: string, sgr: string, text: string): string[] {
    const [first = '', ...more] = this.wrap(`${sign} `, plainText(text), '  ')
    return [this.paint(sgr, sign) + first.slice(sign.length), ...more]
  }

  /** Each text behind its label; labels without a text are left out. */
  labelled(texts: Record<string, string | undefined>): string[] {
    return Object.entries(texts).flatMap(([label, text]) =>
      text === undefined ? [] : this.wrap(`  ${label.padEnd(8)}  `, plainText(text)),
    )
  }

  wrap(first: string, text: string, indent?: string): string[] {
    const { width } = this.#terms
    return wrapped(first, text, { ...(indent !== undefined && { indent }), ...(width !== undefined && { width }) })
  }
}

/** Columns that every terminal has room for. */
const WIDEST = 100

/** Minimum number of columns: one word a line is no easier to read. */
const NARROWEST = 40

/** Number of columns for a stream: those of the terminal, at most 100. */
export function widthFor({ columns = WIDEST }: { columns?: number | undefined }): number {
  return Math.min(WIDEST, Math.max(NARROWEST, columns))
}

/** A text as lines of at most `width` columns, indented after the first; a longer word stays whole. */
export function wrapped(
  first: string,
  text: string,
  { indent = ' '.repeat(first.length), width = WIDEST }: { indent?: string; width?: number } = {},
): string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of text.split(' ')) {
    const longer = empty ? `${line}${word}` : `${line} ${word}`
    if (empty || longer.length <= width) line = longer
    else {
      lines.push(line)
      line = indent + word
    }
    empty = false
  }
  return [...lines, line]
}
