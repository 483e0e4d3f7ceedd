import { vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { Ended } from './command.ts'

/** Runs a command of the command line in this process: for commands that only talk to a sandbox, many in a file. */
export async function runHere(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const capture = (stream: 'stdout' | 'stderr') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += text
      return true
    })
  const spies = [capture('stdout'), capture('stderr')]
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    await main([process.execPath, 'yield-sandbox', ...args])
    return { code: Number(process.exitCode ?? 0), signal: null, ...written }
  } finally {
    process.exitCode = undefined
    vi.unstubAllEnvs()
    for (const spy of spies) spy.mockRestore()
  }
}
