/** Columns of a terminal that everybody has room for. */
const WIDTH = 100

/** A text as lines of at most so many columns, those after the first indented; a word that is longer stays whole. */
export function wrapped(first: string, text: string, indent = ' '.repeat(first.length)): string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of text.split(' ')) {
    const longer = empty ? `${line}${word}` : `${line} ${word}`
    if (empty || longer.length <= WIDTH) line = longer
    else {
      lines.push(line)
      line = indent + word
    }
    empty = false
  }
  return [...lines, line]
}
