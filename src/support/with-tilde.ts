/** Characters that end the name of a folder in a path or on a command line. */
const END = String.raw`(?=$|[/\s'":;,)])`
/** Characters before which no longer path can stand. */
const BEGIN = String.raw`(^|[\s'"=:,;(])`

/**
 * Writes the home folder as `~` wherever a text has a path in it, for files that are shown to others: `~/suite.mjs`. Where a word of a
 * shell is quoted, the quotes begin after the `~`, so that a shell still replaces it. Without a home folder the text stays as it is.
 */
export function withTilde(text: string, home: string | undefined): string {
  const folder = home?.replace(/\/+$/, '') ?? ''
  // A home like "/" stands for nobody, and would match everywhere.
  if (!/^\/./.test(folder)) return text
  const escaped = folder.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return text
    .replace(new RegExp(`(^|\\s)'${escaped}/`, 'g'), (_, before: string) => `${before}~/'`)
    .replace(new RegExp(`${BEGIN}${escaped}${END}`, 'g'), (_, before: string) => `${before}~`)
}
