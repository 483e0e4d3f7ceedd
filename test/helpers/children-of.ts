import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Process ids of the children of a process; none of one that has ended. On Linux alone: what pgrep would look up among all processes of the
 * machine, at a hundredth of its processor time.
 */
export function childrenOf(parent: number): number[] {
  const tasks = `/proc/${parent}/task`
  const threads = orElse([], () => readdirSync(tasks))
  return threads.flatMap((thread) => textOf(`${tasks}/${thread}/children`).split(' ').filter(Boolean).map(Number))
}

/** Name of the program of a process; empty if that has ended. On Linux alone. */
export function programOf(pid: number): string {
  return textOf(`/proc/${pid}/comm`).trimEnd()
}

/** What a process does, as `ps` tells it: R for one that runs, Z for one that nobody has waited for; empty if it has ended. */
export function stateOf(pid: number): string {
  if (process.platform === 'linux') return /^State:\s*(\S)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? ''
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
}

/** Process ids of all whose command line has this text. */
export function processesNaming(text: string): number[] {
  if (process.platform === 'linux') {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return all.filter((pid) => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').includes(text)).map(Number)
  }
  const { stdout } = spawnSync('pgrep', ['-f', '--', text], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** @returns true if there is a process of that id, which may belong to anybody */
export function isAlive(pid: number): boolean {
  return orElse(false, () => process.kill(pid, 0))
}

function textOf(path: string): string {
  return orElse('', () => readFileSync(path, 'utf8'))
}

/** What `read` gives, or the other value if the process has ended. */
function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
