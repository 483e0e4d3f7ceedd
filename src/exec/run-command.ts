import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { SandboxClock } from '../domain/clock.ts'
import { shorten } from '../support/foreign-text.ts'

/** Milliseconds for the command's children to end after it, as those of a pipe or a package manager do. */
const AFTERMATH_MS = 300
/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE_MS = 5_000
/** Milliseconds between two looks at the group. */
const PAUSE_MS = 20

/** Milliseconds in which the sandbox notices that the connections of an ended command are closed. */
export const CLOSING_MS = 5

/** Standard input, output and error: this process's own, or file descriptors. */
export type CommandStdio = 'inherit' | ['ignore' | 'inherit', Output, Output]
type Output = 'inherit' | 'ignore' | 'pipe' | number

/** Options of running a command. */
export interface CommandTerms {
  /** The command's whole environment. */
  env: NodeJS.ProcessEnv
  stdio: CommandStdio
  /** Time limit in milliseconds; undefined for no limit. */
  timeout: number | undefined
  interruption: Interruption
  /** Kills the whole group by SIGKILL, which is no interruption: the command is one that is to die. */
  kill?: AbortSignal | undefined
  clock: SandboxClock
  /** Called at once with the standard output of a command for which that is a pipe. */
  output?(stdout: Readable): void
}

/** How a command ended. */
export interface CommandEnd {
  /** Its exit code; null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  /** True if it was ended because it ran out of time. */
  timedOut: boolean
  /** Names of processes that it left running; they were ended. */
  leftBehind: string[]
}

/**
 * Runs a command in a process group of its own, until the whole group has ended. An interruption is passed on to the whole group;
 * a second one kills it. Throws {@link CommandStartError}.
 */
export async function runCommand(command: readonly string[], terms: CommandTerms): Promise<CommandEnd> {
  const { interruption, clock, timeout, kill: crash } = terms
  const { group, ended } = await start(command, terms)
  const pass = () => void group.signal(interruption.asked.reason)
  const kill = () => void group.signal('SIGKILL')
  const over = new AbortController()
  const listening = { once: true, signal: over.signal }
  interruption.asked.addEventListener('abort', pass, listening)
  interruption.insisted.addEventListener('abort', kill, listening)
  crash?.addEventListener('abort', kill, listening)
  // The interruption may have come while the command was being started.
  if (interruption.asked.aborted) pass()
  if (crash?.aborted) kill()
  try {
    const timedOut = timeout !== undefined && (await Promise.race([isOver(timeout), ended.then(() => false)]))
    if (timedOut) await endGroup(group, clock)
    const { code, signal } = await ended
    if (crash?.aborted) {
      await untilGone(group, GRACE_MS, clock)
      return { code, signal, timedOut, leftBehind: [] }
    }
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

async function start([file = '', ...args]: readonly string[], { env, stdio, output }: CommandTerms) {
  try {
    const child = spawn(file, args, { env, stdio, detached: true })
    const ended = once(child, 'exit').then(
      ([code, signal]) => ({ code, signal }) as Pick<CommandEnd, 'code' | 'signal'>,
    )
    ended.catch(() => undefined) // `spawn` below rejects with the same
    if (child.stdout) output?.(child.stdout)
    await once(child, 'spawn')
    return { group: new ProcessGroup(child.pid ?? 0), ended }
  } catch (error) {
    throw new CommandStartError(file, error as NodeJS.ErrnoException)
  }
}

/** Names of processes that still run after the ended command had time to end them. */
async function leftAfter(group: ProcessGroup, clock: SandboxClock): Promise<string[]> {
  await untilGone(group, AFTERMATH_MS, clock)
  return group.members()
}

/** Ends the whole group: by SIGTERM, then by SIGKILL. */
async function endGroup(group: ProcessGroup, clock: SandboxClock): Promise<void> {
  group.signal('SIGTERM')
  if (await untilGone(group, GRACE_MS, clock)) return
  group.signal('SIGKILL')
  await untilGone(group, GRACE_MS, clock)
}

/** @returns true if the whole group ended within so many milliseconds */
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

  /** Sends a signal to every member; 0 sends none. Returns false when there is none. */
  signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#id, signal)
    } catch {
      return false // ESRCH; on macOS, EPERM when only zombies are left
    }
  }

  /** Names of running members. A single name stands for all where the system does not list them (not Linux). */
  members(): string[] {
    if (!this.signal(0)) return []
    try {
      const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
      return pids.flatMap((pid) => this.#nameOf(pid) ?? [])
    } catch {
      return ['unknown']
    }
  }

  /** Undefined for a process that has ended, even if it is still a zombie, and for one of another group. */
  #nameOf(pid: string): string | undefined {
    try {
      const [, name, state, group] = /\((.*)\) (\S) \d+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      return Number(group) === this.#id && state !== 'Z' && state !== 'X' ? name : undefined
    } catch {
      return undefined // it ended meanwhile
    }
  }
}

/** A command that could not be started; the message says why, and names a correction. */
export class CommandStartError extends Error {
  override readonly name = 'CommandStartError'

  constructor(command: string, cause: NodeJS.ErrnoException) {
    super(`${JSON.stringify(shorten(command, 80))} ${startFailure(command, cause)}`, { cause })
  }
}

/** Words that only a shell knows; some machines have files of these names, but they are of no use. */
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

/** The wish of a person or a CI system to stop. The reason of both signals is the name of the system's signal, such as `SIGINT`. */
export interface Interruption {
  /** The command gets the signal, and as much time as it needs. */
  asked: AbortSignal
  /** The command is killed. */
  insisted: AbortSignal
}

/** Runs `--before` in the shell. Resolves to its end when it failed, else to undefined. */
export async function runBefore(before: string | undefined, terms: CommandTerms): Promise<CommandEnd | undefined> {
  if (before === undefined) return undefined
  const end = await runCommand(['sh', '-c', before], terms)
  return end.code === 0 && !end.timedOut ? undefined : end
}
