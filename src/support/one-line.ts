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
