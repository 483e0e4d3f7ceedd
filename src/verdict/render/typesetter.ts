import { wrapped } from '../../support/wrapped.ts'
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
