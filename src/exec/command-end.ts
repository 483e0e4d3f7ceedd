import { constants } from 'node:os'
import { oneLine } from '../support/foreign-text.ts'
import type { CommandEnd } from './run-command.ts'

/** 128 plus the signal's number, as in shells. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** The exit code that stands for a command's end. */
export function codeOfEnd({ code, signal, timedOut }: CommandEnd): number {
  if (timedOut) return 1
  return signal === null ? (code ?? 1) : codeOfSignal(signal)
}

/** A command's end in a word: its code, the signal that ended it, or `timeout`. */
export function endInAWord(end: CommandEnd): string {
  return end.timedOut ? 'timeout' : (end.signal ?? String(codeOfEnd(end)))
}

/** "the command ended with code 1" */
export function endInWords({ code, signal, timedOut }: CommandEnd, what = 'the command'): string {
  if (timedOut) return `${what} was not done in time`
  return signal === null ? `${what} ended with code ${code ?? 1}` : `${what} was ended by ${signal}`
}

/** "npm left 2 processes running: ended (node, esbuild)"; undefined when it left none. `where` distinguishes runs. */
export function leftBehindInWords(command: string, names: readonly string[], where = ''): string | undefined {
  if (names.length === 0) return undefined
  const what = names.length === 1 ? 'a process' : `${names.length} processes`
  return `${command} left ${what} running${where}: ended (${oneLine([...new Set(names)].join(', '), 100)})`
}
