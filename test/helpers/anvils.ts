import { spawnSync } from 'node:child_process'

/** Process ids of the Anvils that a process has started. */
export function anvilsOf(parent: number): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(parent), '-x', 'anvil'], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}
