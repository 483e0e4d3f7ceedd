/** What a terminal obeys instead of showing it, or shows as nothing: control, format and private characters, lone surrogates, line ends. */
const INVISIBLE = /[\p{C}\u2028\u2029]/gu
/** Of those, what may stand in a text of several lines. */
const LAYOUT = new Set(['\n', '\t'])

/** Text from outside as a terminal may show it: an escape sequence in it is seen (`\u001b[2J`), not obeyed. Line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => (LAYOUT.has(character) ? character : escaped(character)))
}

/** The same for JSON, which stays the same JSON: `JSON.stringify` lets some of these characters through. */
export function visibleJson(value: unknown): string {
  return visibleText(JSON.stringify(value))
}

/** As JSON and JavaScript write it. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }).join('')
}
