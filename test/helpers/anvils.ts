import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Process ids of the Anvils that a process has started. */
export function anvilsOf(parent: number): number[] {
  if (process.platform === 'linux') return childrenOf(parent).filter((pid) => textOf(`/proc/${pid}/comm`) === 'anvil\n')
  const { stdout } = spawnSync('pgrep', ['-P', String(parent), '-x', 'anvil'], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** What pgrep would look up among all processes of the machine, at a hundredth of its processor time; on Linux alone. */
function childrenOf(parent: number): number[] {
  const tasks = `/proc/${parent}/task`
  const threads = textOf(`/proc/${parent}/comm`) === '' ? [] : readdirSync(tasks)
  return threads.flatMap((thread) => textOf(`${tasks}/${thread}/children`).split(' ').filter(Boolean).map(Number))
}

/** The text of a file of a process; '' if that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
