import { readdir, readFile } from 'node:fs/promises'
import type { SandboxClock } from '../../domain/clock.ts'

/** Milliseconds before the first look at a process, and between two. */
const LOOK_INTERVAL_MS = 1_000
/** Hundredths of a second that it may have worked between two looks: an idle Anvil and a dead-locked one use none. */
const MOST_TICKS = 2
/** Where the state of a process or thread stands after its name, and the processor time that it has used. */
const [STATE, USER_TIME, SYSTEM_TIME] = [0, 11, 12] as const

/** What a process is doing. */
interface Look {
  /** Whether every thread sleeps. One that has no processor, waits for a disk or is stopped does not. */
  asleep: boolean
  /** The processor time that it has used, in hundredths of a second. */
  ticks: number
}

/**
 * Looks at a process every second while it owes an answer. Resolves to true when it slept all of a second: nothing will wake
 * it. To false when it owes none any more, or the system does not tell (only Linux does).
 */
export async function isDeadLocked(
  pid: number,
  owes: () => boolean,
  clock: Pick<SandboxClock, 'wallSleep'>,
): Promise<boolean> {
  let before: Look | undefined
  for (;;) {
    await clock.wallSleep(LOOK_INTERVAL_MS)
    if (!owes()) return false
    const now = await lookAt(pid)
    // Once more: had we been held up ourselves, an answer that was there has been read by now.
    if (!now || !owes()) return false
    if (before?.asleep && now.asleep && now.ticks - before.ticks <= MOST_TICKS) return true
    before = now
  }
}

async function lookAt(pid: number): Promise<Look | undefined> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const states = await Promise.all(threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)))
    const fields = await fieldsOf(`/proc/${pid}/stat`) // with the time of threads that have ended
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])
    return { asleep: states.every((thread) => thread[STATE] === 'S'), ticks }
  } catch {
    return undefined
  }
}

/** What is told after the name, which may hold blanks and parentheses. */
async function fieldsOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
