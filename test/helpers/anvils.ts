import { spawnSync } from 'node:child_process'
import { childrenOf, programOf } from './children-of.ts'

/** Process ids of the Anvils that a process has started. */
export function anvilsOf(parent: number): number[] {
  if (process.platform === 'linux') return childrenOf(parent).filter((pid) => programOf(pid) === 'anvil')
  const { stdout } = spawnSync('pgrep', ['-P', String(parent), '-x', 'anvil'], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}
