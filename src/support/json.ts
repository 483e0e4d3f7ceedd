/** Parses a text as JSON; undefined unless it is an object. */
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
 * JSON with the members of objects in alphabetical order, so that equal values give equal texts whatever serialized them. Empty for
 * values that JSON does not have, such as undefined.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, inOrder) ?? ''
}

function inOrder(_key: string, member: unknown): unknown {
  if (member === null || typeof member !== 'object' || Array.isArray(member)) return member
  return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Maximum depth of lists and objects: far beyond what anybody needs, far below what recursion survives. */
const MAX_DEPTH = 64

/** Maximum number of values of a request's body or a token's claims; lists and objects count. */
const MAX_VALUES = 10_000

/**
 * Says which limit a JSON text exceeds, as the end of a sentence that begins with its name; undefined when it exceeds none. Reads
 * the text once and allocates nothing, so that it may run before a parser and before code that recurses into the value.
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

/** Index of the end of the string that begins with the quotation mark at `start`; the length of the text when it does not end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
