import { checkLeftRunning } from './check-left-running.ts'
import { checkAnvil, checkGlibc, checkNode } from './check-runtime.ts'
import { checkClock, checkFixtures, checkPort, checkProxy } from './check-surroundings.ts'
import type { MachineCheck } from './machine-check.ts'

/** What a start on this machine would use. */
export interface MachineTerms {
  port: number
  /** Undefined for the shipped file. */
  fixtures: string | undefined
  /** Where a sandbox may run, whose clock this machine's is compared with. */
  url: string
  env: NodeJS.ProcessEnv
}

/** Looks for whatever would keep a sandbox, or its clients, from working on this machine. Changes nothing, and needs no network. */
export async function examineMachine({ port, fixtures, url, env }: MachineTerms): Promise<MachineCheck[]> {
  return Promise.all([
    checkNode(),
    checkAnvil(),
    checkGlibc(),
    checkPort(port),
    checkFixtures(fixtures),
    checkClock(url),
    checkProxy(env),
    checkLeftRunning(),
  ])
}
