import { createHook } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { SandboxClock } from '../domain/clock.ts'
import type { Interruption } from '../exec/run-command.ts'
import { isAlive } from '../support/is-alive.ts'
import { abortController } from '../support/waiting.ts'

/** Milliseconds within which a repeated signal counts as the same: npm passes on a signal that the terminal has already sent. */
const ECHO_MS = 250

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Turns signals into an interruption: the first asks for an end, the second insists, a third ends this process at once. The end of npx,
 * which passes no signal on, counts as SIGTERM.
 */
export function watchSignals(): Interruption {
  const clock = new SandboxClock()
  const [asked, insisted] = [abortController(), abortController()]
  let latest = 0
  const came = (signal: NodeJS.Signals) => {
    const now = clock.wallNow()
    if (now - latest < ECHO_MS) return
    latest = now
    if (insisted.signal.aborted) process.exit(1)
    else if (asked.signal.aborted) insisted.abort(signal)
    else asked.abort(signal)
  }
  for (const signal of SIGNALS) process.on(signal, came)
  void whenNpxGoes(clock, () => came('SIGTERM'))
  return { asked: asked.signal, insisted: insisted.signal }
}

/** Milliseconds between two checks. */
const PAUSE_MS = 500

/**
 * Calls back when npx, which started this process, has gone: a signal to npx ends npx and its shell, but not the processes that they
 * started. Never calls back if the parent was not npx, since other background processes are meant to outlive their shell.
 */
export async function whenNpxGoes(clock: SandboxClock, gone: () => void): Promise<void> {
  if (process.env.npm_command !== 'exec') return
  const parent = process.ppid
  const watched = [parent, ...shellsNpx(parent)]
  while (process.ppid === parent && watched.every(isAlive)) await clock.wallSleep(PAUSE_MS)
  gone()
}

/** The npx above the shell in which it runs a command; the shell may outlive it, and so would not show that npx was killed. */
function shellsNpx(shell: number): number[] {
  try {
    const [, above] = /\) \S (\d+)/.exec(readFileSync(`/proc/${shell}/stat`, 'latin1')) ?? []
    const isNpx = readFileSync(`/proc/${above}/comm`, 'latin1').startsWith('npm exec')
    return isNpx ? [Number(above)] : []
  } catch {
    return [] // not Linux
  }
}

/** Never read: it only keeps the objects alive. */
const kept: object[] = []

/**
 * Keeps alive one of the objects in which Node notes a `process.nextTick` callback. If there is none at a garbage collection, V8 forgets
 * their shape; after a few times Node 20 creates them in a generic way for good, which is five times as slow, and a request needs six.
 */
export function keepTickShape(): void {
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'TickObject') kept.push(resource)
    },
  }).enable()
  process.nextTick(() => undefined)
  hook.disable()
}
