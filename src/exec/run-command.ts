import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { SandboxClock } from '../domain/clock.ts'
import { shorten } from '../support/foreign-text.ts'

/** Milliseconds. For what a command started to end after it, as a pipe or a package manager does. */
const AFTERMATH_MS = 300
/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 5_000
/** Milliseconds between two looks at who is left. */
const PAUSE_MS = 20

/** Milliseconds in which the sandbox sees that connections of a command that has ended are closed. */
export const CLOSING_MS = 5

/** Its standard input, output and error: this process's own, or file descriptors. */
export type CommandStdio = 'inherit' | ['ignore', Output, Output]
type Output = 'inherit' | 'ignore' | number

/** How to run a command. */
export interface CommandTerms {
  /** All it sees of the environment. */
  env: NodeJS.ProcessEnv
  stdio: CommandStdio
  /** Milliseconds; undefined for no limit. */
  timeout: number | undefined
  interruption: Interruption
  clock: SandboxClock
}

/** How a command ended. */
export interface CommandEnd {
  /** Its exit code; null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  /** True if it was ended because its time was over. */
  timedOut: boolean
  /** Names of processes it left running, which were ended. */
  leftBehind: string[]
}

/**
 * Runs a command in a process group of its own, to the end of the whole group. An interruption reaches all of the group, and ends
 * it when it comes again. Throws {@link CommandStartError}.
 */
export async function runCommand(command: readonly string[], terms: CommandTerms): Promise<CommandEnd> {
  const { interruption, clock, timeout } = terms
  const { group, ended } = await start(command, terms)
  const pass = () => void group.signal(interruption.asked.reason)
  const kill = () => void group.signal('SIGKILL')
  const over = new AbortController()
  const listening = { once: true, signal: over.signal }
  interruption.asked.addEventListener('abort', pass, listening)
  interruption.insisted.addEventListener('abort', kill, listening)
  // It may have come while the command was being started.
  if (interruption.asked.aborted) pass()
  try {
    const timedOut = timeout !== undefined && (await Promise.race([isOver(timeout), ended.then(() => false)]))
    if (timedOut) await endGroup(group, clock)
    const { code, signal } = await ended
    const leftBehind = await leftAfter(group, clock)
    if (leftBehind.length > 0) await endGroup(group, clock)
    return { code, signal, timedOut, leftBehind }
  } finally {
    over.abort()
  }

  function isOver(milliseconds: number): Promise<boolean> {
    return clock.sleep(milliseconds, over.signal).then(
      () => true,
      () => false,
    )
  }
}

async function start([file = '', ...args]: readonly string[], { env, stdio }: CommandTerms) {
  try {
    const child = spawn(file, args, { env, stdio, detached: true })
    const ended = once(child, 'exit').then(
      ([code, signal]) => ({ code, signal }) as Pick<CommandEnd, 'code' | 'signal'>,
    )
    ended.catch(() => undefined) // `spawn` below rejects with the same
    await once(child, 'spawn')
    return { group: new ProcessGroup(child.pid ?? 0), ended }
  } catch (error) {
    throw new CommandStartError(file, error as NodeJS.ErrnoException)
  }
}

/** Names of those that still run when a command that has ended had the time to take them along. */
async function leftAfter(group: ProcessGroup, clock: SandboxClock): Promise<string[]> {
  await untilGone(group, AFTERMATH_MS, clock)
  return group.members()
}

/** Ends all of a group: politely, then not. */
async function endGroup(group: ProcessGroup, clock: SandboxClock): Promise<void> {
  group.signal('SIGTERM')
  if (await untilGone(group, GRACE_MS, clock)) return
  group.signal('SIGKILL')
  await untilGone(group, GRACE_MS, clock)
}

/** @returns whether all of a group ended within so many milliseconds */
async function untilGone(group: ProcessGroup, milliseconds: number, clock: SandboxClock): Promise<boolean> {
  const deadline = clock.wallNow() + milliseconds
  while (group.members().length > 0) {
    if (clock.wallNow() >= deadline) return false
    await clock.sleep(PAUSE_MS)
  }
  return true
}

/** A command and everything it started that did not leave its group. */
export class ProcessGroup {
  readonly #id: number

  /** `leader` is the process id of the command, which was started with a group of its own. */
  constructor(leader: number) {
    this.#id = leader
  }

  /** Sends a signal to each of them; 0 sends none. Returns false when nobody is there. */
  signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#id, signal)
    } catch {
      return false // ESRCH; on macOS, EPERM when all that is left was not waited for
    }
  }

  /** Names of those that run. Where the system does not tell them (no Linux), one that stands for all. */
  members(): string[] {
    if (!this.signal(0)) return []
    try {
      const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
      return pids.flatMap((pid) => this.#nameOf(pid) ?? [])
    } catch {
      return ['unknown']
    }
  }

  /** Undefined for one that has ended, though nobody may have waited for it, or is of another group. */
  #nameOf(pid: string): string | undefined {
    try {
      const [, name, state, group] = /\((.*)\) (\S) \d+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      return Number(group) === this.#id && state !== 'Z' && state !== 'X' ? name : undefined
    } catch {
      return undefined // it ended meanwhile
    }
  }
}

/** A command that could not be started; the message says why and what to write instead. */
export class CommandStartError extends Error {
  override readonly name = 'CommandStartError'

  constructor(command: string, cause: NodeJS.ErrnoException) {
    super(`${JSON.stringify(shorten(command, 80))} ${startFailure(command, cause)}`, { cause })
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

function startFailure(command: string, { code, message }: NodeJS.ErrnoException): string {
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

/** That a person or a CI system wants an end. The reason of both is the signal that came, such as `SIGINT`. */
export interface Interruption {
  /** The command is told, and has the time it takes. */
  asked: AbortSignal
  /** The command is ended where it stands. */
  insisted: AbortSignal
}

/** Runs `--before` by the shell. Resolves to how it ended when it failed, else to undefined. */
export async function runBefore(before: string | undefined, terms: CommandTerms): Promise<CommandEnd | undefined> {
  if (before === undefined) return undefined
  const end = await runCommand(['sh', '-c', before], terms)
  return end.code === 0 && !end.timedOut ? undefined : end
}
