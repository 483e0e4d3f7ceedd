import type { ControlClient } from '../../control/client.ts'
import type { SandboxClock } from '../../domain/clock.ts'

/** Milliseconds between two looks at what has struck. */
const PAUSE_MS = 100

/**
 * Takes faults away so many milliseconds of real time after they have struck, until the signal is aborted. The clock of a run
 * stands still, so that no yield is earned in one that is not earned in another; nothing that waits on it would come to its end.
 */
export async function letGoInTime(
  client: ControlClient,
  held: number,
  clock: SandboxClock,
  over: AbortSignal,
): Promise<void> {
  const since = new Map<string, number>()
  for (;;) {
    await clock.wallSleep(PAUSE_MS, over)
    if (over.aborted) return
    const now = clock.wallNow()
    for (const { id, hits } of await client.faults()) {
      if (hits === 0) continue
      const struck = since.get(id) ?? now
      since.set(id, struck)
      if (now - struck >= held) await client.removeFault(id)
    }
  }
}
