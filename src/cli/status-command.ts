import type { Command } from 'commander'
import { type ControlFlags, clientOf, controlCommand, print } from './control-options.ts'

/** `status`: reports if a sandbox runs and can serve. Fails if not. */
export function statusCommand(): Command {
  return controlCommand(
    'status',
    'Show a sandbox: ready or not and why, version, uptime in seconds. Fails unless ready.',
    ['status', 'status --url localhost:4011 --json'],
  ).action(async (flags: ControlFlags) => {
    const client = clientOf(flags)
    const [{ version, uptime_seconds }, { ready, reason }] = await Promise.all([client.health(), client.readiness()])
    const state = { url: flags.url, ready, ...(reason !== undefined && { reason }), version, uptime_seconds }
    print(flags, state, [[ready ? 'ready' : `not ready: ${reason}`, version, uptime_seconds, flags.url]])
    if (!ready) process.exitCode = 1
  })
}
