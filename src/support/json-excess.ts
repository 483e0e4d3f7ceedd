/** Most lists and objects inside each other: far beyond what anybody needs, far below what recursion survives. */
const MAX_DEPTH = 64

/** Most values of a request's body or a token's claims, lists and objects among them. */
const MAX_VALUES = 10_000

/**
 * What is too much about a JSON text, as the end of a sentence that begins with its name; undefined when nothing is. Reads
 * the text once and keeps nothing, so that it may run before a parser and whatever walks the value by recursion.
 */
export function jsonExcess(text: string, values = MAX_VALUES): string | undefined {
  let level = 0
  let count = 1
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at)
        break
      case '[':
      case '{':
        if (++level > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`
        if (++count > values) return `holds more than ${values} values`
        break
      case ']':
      case '}':
        level--
        break
      case ',':
        if (++count > values) return `holds more than ${values} values`
    }
  }
  return undefined
}

/** Where the string ends that begins with the quotation mark at `start`; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
