import type { Command } from 'commander'
import { ControlError } from '../control/client.ts'
import { SandboxClock } from '../domain/clock.ts'
import { type ControlFlags, clientOf, controlCommand, print } from './control-options.ts'

/** Milliseconds: between two questions, and until it counts as a failure. */
const PAUSE_MS = 50
const PATIENCE_MS = 30_000

/** `stop`: ends a running sandbox, and returns when it is gone. */
export function stopCommand(): Command {
  return controlCommand('stop', 'End a running sandbox, as Ctrl-C would. Returns when its port is free.', [
    'stop',
    'stop --url localhost:4011',
  ]).action(async (flags: ControlFlags) => {
    const client = clientOf(flags)
    await client.stop()
    const clock = new SandboxClock()
    const deadline = clock.wallNow() + PATIENCE_MS
    while (await client.answers()) {
      if (clock.wallNow() >= deadline) throw new ControlError(`${flags.url} was told to stop and still answers`)
      await clock.sleep(PAUSE_MS)
    }
    print(flags, { stopped: true }, [['stopped']])
  })
}
