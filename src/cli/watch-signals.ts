import { SandboxClock } from '../domain/clock.ts'
import type { Interruption } from '../exec/run-command.ts'
import { abortController } from '../support/abort-controller.ts'
import { whenNpxGoes } from './npx.ts'

/** Milliseconds in which a signal that comes again is the same one: npm passes on what the terminal has sent already. */
const ECHO_MS = 250

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Makes signals an interruption: the first asks for an end, the second insists, a third ends this process where it stands. The end
 * of npx, which passes no signal on, counts as SIGTERM.
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
