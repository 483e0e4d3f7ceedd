import type { Command } from 'commander'
import { type ControlFlags, clientOf, print, sandboxCommand } from './control-options.ts'

/** `stop`: ends a running sandbox, and returns when it is gone. */
export function stopCommand(): Command {
  return sandboxCommand('stop', 'End a running sandbox, as Ctrl-C would. Returns when its port is free.', [
    'stop',
    'stop --url localhost:4011',
  ]).action(async (flags: ControlFlags) => {
    await clientOf(flags).stop()
    print(flags, { stopped: true }, [['stopped']])
  })
}
