/*
 * bin/yield-sandbox.js loads this file alone, before all other code: whoever starts a command that takes longer reads at once that it goes
 * on. It imports nothing.
 */

/** Commands that take longer than a moment, and the first words of each. */
const FIRST_WORDS: Record<string, string> = {
  start: 'starts a sandbox',
  exec: 'starts a sandbox for your command',
  explore: 'starts sandboxes for your command',
  certify: 'starts sandboxes for your command',
  doctor: 'examines this machine',
}

/** Flags that print a text and do nothing. */
const PRINTING = new Set(['--help', '-h', '--version', '-V'])

/** Moves to the beginning of the line and clears it (ECMA-48). */
export const CLEAR_LINE = '\r\u001b[K'

/** @returns true if lines on the stream can be replaced in place: a terminal that a person looks at */
export function canRenew(stream: { isTTY?: boolean | undefined }): boolean {
  return stream.isTTY === true && process.env.TERM !== 'dumb' && !process.env.CI
}

/** Shows a line on standard error that can be cleared, if the command takes longer. @returns true if it did */
export function sayFirstWords([, , word = 'start', ...others]: readonly string[]): boolean {
  const name = word.startsWith('-') ? 'start' : word
  const words = Object.hasOwn(FIRST_WORDS, name) ? FIRST_WORDS[name] : undefined
  const end = others.includes('--') ? others.indexOf('--') : others.length
  const isText = [word, ...others.slice(0, end)].some((flag) => PRINTING.has(flag))
  if (words === undefined || isText || !canRenew(process.stderr)) return false
  process.stderr.write(`${CLEAR_LINE}yield-sandbox: ${words} …`)
  return true
}
