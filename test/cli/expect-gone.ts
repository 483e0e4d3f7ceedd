import { spawnSync } from 'node:child_process'
import { expect } from 'vitest'

/** Holds that a process is gone. One that has ended and that nobody has waited for is gone as well: its parent ended before it. */
export function expectGone(pid: number): void {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  expect(stdout.trim()).toMatch(/^Z|^$/)
}
