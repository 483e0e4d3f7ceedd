/** Text from outside as an answer may repeat it: the first `longest` characters at most, with … when there is more. */
export function shorten(text: string, longest = 100): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/** Colours and other sequences for terminals (ECMA-48). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const SEQUENCES = /\u001b(\[[0-?]*[ -/]*[@-~]|[@-_])/g

/** The output of another program as one line of at most `length` characters, without colours. */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, 20 * length)
    .replace(SEQUENCES, '')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

/** Characters that a terminal obeys or hides: control, format and private characters, lone surrogates, line ends. */
const INVISIBLE = /[\p{C}\u2028\u2029]/gu
/** Those of them that a text of several lines may hold. */
const LAYOUT = new Set(['\n', '\t'])

/** Text from outside, safe to print: a terminal shows an escape sequence (`\u001b[2J`) and does not obey it. Line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => (LAYOUT.has(character) ? character : escaped(character)))
}

/** The same for JSON, whose value stays the same: `JSON.stringify` does not escape all of these characters. */
export function visibleJson(value: unknown): string {
  return visibleText(JSON.stringify(value))
}

/** Escapes as JSON and JavaScript do. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }).join('')
}

/** A command line of POSIX's shell for these words, quoted where the shell would change them. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
