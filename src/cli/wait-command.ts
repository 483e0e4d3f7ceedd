import { type Command, Option } from 'commander'
import type { ControlClient } from '../control/client.ts'
import { ControlError } from '../control/control-error.ts'
import { SandboxClock } from '../domain/clock.ts'
import { type ControlFlags, clientOf, controlCommand, print } from './control-options.ts'
import { duration } from './parse-argument.ts'

/** Milliseconds between two checks. */
const PAUSE_MS = 100

/** `wait`: returns when a sandbox can serve. */
export function waitCommand(): Command {
  return controlCommand('wait', 'Wait until a sandbox is ready. Fails when it is not in time.', [
    'wait',
    'wait --url localhost:4011 --timeout 2m',
    'wait --namespace pull-request-7',
  ])
    .addOption(new Option('--timeout <duration>', 'for how long').argParser(duration).default(60_000, '60s'))
    .action(async (flags: ControlFlags & { timeout: number }) => {
      const clock = new SandboxClock()
      const deadline = clock.wallNow() + flags.timeout
      for (;;) {
        const reason = await whyNot(clientOf(flags))
        if (reason === undefined) break
        if (clock.wallNow() >= deadline)
          throw new ControlError(`not ready in time: ${reason}`, { code: 'sandbox_starting' })
        await clock.sleep(PAUSE_MS)
      }
      print(flags, { ready: true }, [['ready']])
    })
}

/** Reason why a sandbox is not ready, its absence included. */
async function whyNot(client: ControlClient): Promise<string | undefined> {
  try {
    const { ready, reason } = await client.readiness()
    return ready ? undefined : reason
  } catch (error) {
    if (error instanceof ControlError) return error.message
    throw error
  }
}
