import { expect } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'

/** Resolves when the fault added last has struck that often: what it holds up is held up from now on. */
export async function struck(sandbox: SandboxHandle, times = 1): Promise<void> {
  await expect.poll(async () => (await sandbox.faults.list()).at(-1)?.hits, { interval: 5 }).toBe(times)
}
