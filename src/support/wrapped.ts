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
