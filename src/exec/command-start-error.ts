import { existsSync } from 'node:fs'
import { shorten } from '../support/shorten.ts'

/** A command that could not be started; the message says why and what to write instead. */
export class CommandStartError extends Error {
  override readonly name = 'CommandStartError'

  constructor(command: string, cause: NodeJS.ErrnoException) {
    super(`${JSON.stringify(shorten(command, 80))} ${reasonOf(command, cause)}`, { cause })
  }
}

/** Words that only a shell knows; some of them are files as well on some machines, and of no use there. */
const SHELL_WORDS = new Set([
  '.',
  'alias',
  'cd',
  'eval',
  'exec',
  'export',
  'for',
  'if',
  'set',
  'source',
  'ulimit',
  'while',
])

function reasonOf(command: string, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return notFound(command)
    case 'EACCES':
    case 'EPERM':
      return 'cannot be run: it is not an executable file (chmod +x makes a script one)'
    case 'E2BIG':
      return 'cannot be started: its arguments and environment are too long for this machine'
    default:
      return `cannot be started (${code ?? message})`
  }
}

function notFound(command: string): string {
  if (SHELL_WORDS.has(command)) return "is a word of the shell: give sh -c '…' as the command"
  if (/^[A-Za-z_]\w*=/.test(command))
    return `is not a command: set variables with env, as in: -- env ${command} npm test`
  if (/\s/.test(command)) return "is not a command: leave out the quotes around it, or give sh -c '…'"
  if (existsSync(command)) return 'cannot be started: the program that its first line (#!) names does not exist'
  return /[/\\]/.test(command)
    ? 'does not exist: check the path'
    : 'is not a command on this machine: PATH has nothing of that name'
}
