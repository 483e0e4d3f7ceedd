import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { SandboxClock } from '../domain/clock.ts'
import { CommandStartError } from './command-start-error.ts'
import type { Interruption } from './interruption.ts'
import { ProcessGroup } from './process-group.ts'

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
  /** Whether it was ended because its time was over. */
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
