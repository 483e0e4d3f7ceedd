import { readFileSync } from 'node:fs'
import type { SandboxClock } from '../domain/clock.ts'

/** Milliseconds between looks. */
const PAUSE_MS = 500

/**
 * Calls back when npx, which started this process, has gone: a signal to npx ends npx and its shell, and leaves what they
 * started to itself. Never calls back when it was not npx: who is started in the background otherwise is to outlive its shell.
 */
export async function whenNpxGoes(clock: SandboxClock, gone: () => void): Promise<void> {
  if (process.env.npm_command !== 'exec') return
  const parent = process.ppid
  const watched = [parent, ...shellsNpx(parent)]
  while (process.ppid === parent && watched.every(isAlive)) await clock.wallSleep(PAUSE_MS)
  gone()
}

/** npx runs a command in a shell, which may stay between the two: it would not tell that npx was killed. */
function shellsNpx(shell: number): number[] {
  try {
    const [, above] = /\) \S (\d+)/.exec(readFileSync(`/proc/${shell}/stat`, 'latin1')) ?? []
    const isNpx = readFileSync(`/proc/${above}/comm`, 'latin1').startsWith('npm exec')
    return isNpx ? [Number(above)] : []
  } catch {
    return [] // no Linux
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
