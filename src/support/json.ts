/** The object that a text is as JSON; undefined when it is none. */
export function jsonObject(text: string | null | undefined): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text ?? '')
    return read !== null && typeof read === 'object' && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/**
 * JSON with the members of objects in one order, so that a serializer's habit does not make the same value look different. Empty for
 * what JSON cannot say, such as undefined.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, inOrder) ?? ''
}

function inOrder(_key: string, member: unknown): unknown {
  if (member === null || typeof member !== 'object' || Array.isArray(member)) return member
  return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
}

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
