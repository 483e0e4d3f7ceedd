import { spawnSync } from 'node:child_process'
import { childrenOf, processesNaming, programOf } from './children-of.ts'

/** Process ids of the Anvils that a process has started. */
export function anvilsOf(parent: number): number[] {
  if (process.platform === 'linux') return childrenOf(parent).filter((pid) => programOf(pid) === 'anvil')
  const { stdout } = spawnSync('pgrep', ['-P', String(parent), '-x', 'anvil'], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** Process ids of what would end the Anvils of a process and remove their files if it died: one, or none if it has no Anvil. */
export function watchdogsOf(parent: number): number[] {
  return processesNaming(`watchdog of process ${parent},`)
}
