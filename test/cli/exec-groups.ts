import { expect } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'
import type { ClientName } from './exec-clients.ts'
import { expectGone } from './expect-gone.ts'

/** Starts `exec` in processes of their own, for a file's tests of what is ended with it. */
export function execGroups(client: (name: ClientName) => string[]) {
  const startCommand = commandStarter()

  function start(flags: readonly string[], command: readonly string[], env: Record<string, string> = {}): Command {
    return startCommand(['exec', ...flags, '--', ...command], { env })
  }

  /** What a client printed of the id of a process. */
  async function pidOf(exec: Command, role: string): Promise<number> {
    return Number((await exec.prints(new RegExp(`${role} \\d+`))).split(' ')[1])
  }

  /** A signal to `exec` ends its command and that one's child, each told once, and its Anvil. */
  async function reachesTheGroup(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    const exec = start([], client('family'))
    const pids = [await pidOf(exec, 'parent'), await pidOf(exec, 'child'), ...anvilsOf(exec.child.pid!)]
    expect(pids).toHaveLength(3)
    exec.kill(signal)
    const { code, stdout } = await exec.ended
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143)
    expect(stdout.match(/(parent|child) SIG\w+/g)?.toSorted()).toEqual([`child ${signal}`, `parent ${signal}`])
    for (const pid of pids) expectGone(pid)
  }

  return { start, pidOf, reachesTheGroup }
}
