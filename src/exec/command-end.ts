import { constants } from 'node:os'
import { oneLine } from '../support/foreign-text.ts'
import type { CommandEnd } from './run-command.ts'

/** 128 and the signal's number, as shells have it. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** What a command's end makes of the run. */
export function codeOfEnd({ code, signal, timedOut }: CommandEnd): number {
  if (timedOut) return 1
  return signal === null ? (code ?? 1) : codeOfSignal(signal)
}

/** How a command ended, in a word: its code, the signal that ended it, or `timeout`. */
export function endInAWord(end: CommandEnd): string {
  return end.timedOut ? 'timeout' : (end.signal ?? String(codeOfEnd(end)))
}

/** "the command ended with code 1" */
export function endInWords({ code, signal, timedOut }: CommandEnd): string {
  if (timedOut) return 'the command was not done in time'
  return signal === null ? `the command ended with code ${code ?? 1}` : `the command was ended by ${signal}`
}

/** "npm left 2 processes running: ended (node, esbuild)"; undefined when it left none. `where` tells runs apart. */
export function leftBehindInWords(command: string, names: readonly string[], where = ''): string | undefined {
  if (names.length === 0) return undefined
  const what = names.length === 1 ? 'a process' : `${names.length} processes`
  return `${command} left ${what} running${where}: ended (${oneLine([...new Set(names)].join(', '), 100)})`
}
