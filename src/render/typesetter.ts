import { plainText } from './safe-text.ts'

/** How something is written for a terminal. */
export interface TextTerms {
  /** Columns; default: 100. */
  width?: number
  /** With colours and bold type. */
  colour?: boolean
  /** Everything there is, not only what is wrong. */
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

  /** All of it in one colour. */
  whole(sgr: string, text: string): string[] {
    return this.wrap('', text).map((line) => this.paint(sgr, line))
  }

  /** Behind a sign in its colour. */
  signed(sign: string, sgr: string, text: string): string[] {
    const [first = '', ...more] = this.wrap(`${sign} `, plainText(text), '  ')
    return [this.paint(sgr, sign) + first.slice(sign.length), ...more]
  }

  /** Each behind its label; those without a text are left out. */
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

/** Columns of a terminal that everybody has room for. */
const WIDEST = 100

/** Below this many columns nothing is wrapped further: one word a line is no easier to read. */
const NARROWEST = 40

/** How wide lines for a stream are: as wide as the terminal, and at most 100 columns. */
export function widthFor({ columns = WIDEST }: { columns?: number | undefined }): number {
  return Math.min(WIDEST, Math.max(NARROWEST, columns))
}

/** A text as lines of at most `width` columns, those after the first indented; a word that is longer stays whole. */
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
