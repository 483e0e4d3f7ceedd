/** Text from outside as an answer may repeat it: the beginning, at most `longest` characters, and … when there is more. */
export function shorten(text: string, longest = 100): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** Colours and other sequences for terminals (ECMA-48). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SEQUENCES = /\u001b(\[[0-?]*[ -/]*[@-~]|[@-_])/g

/** Another program's words as one clean line of at most `length` characters, without colours. */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, 20 * length)
    .replace(SEQUENCES, '')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

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

/** A command line of POSIX's shell for these words: those that it would read otherwise stand in quotation marks. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
