import { type Command, Option } from 'commander'
import type { ControlClient } from '../control/client.ts'
import { ControlError } from '../control/control-error.ts'
import { SandboxClock } from '../domain/clock.ts'
import { OptionError } from '../option-error.ts'
import { recordOf } from '../running/sandbox-record.ts'
import { type ControlFlags, clientOf, controlCommand, print, sandboxCommand } from './control-options.ts'
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
    const row = [ready ? 'ready' : `not ready: ${reason}`, version, uptime_seconds, flags.url]
    print(flags, state, [row], ['state', 'version', 'uptime (s)', 'address'])
    if (!ready) process.exitCode = 1
  })
}

/** `usage`: what the namespaces of a sandbox use. */
export function usageCommand(): Command {
  return sandboxCommand(
    'usage',
    'Show what each namespace uses: requests, Anvils that run, bytes of record and ledger, transactions, last request.',
    ['usage', 'usage --url localhost:4011 --json'],
  ).action(async (flags: ControlFlags) => {
    const usage = await clientOf(flags).usage()
    const rows = usage.namespaces.map(({ name, requests, anvils, holdings, last_request_at }) => {
      const { record_bytes, ledger } = holdings ?? {}
      return [name, requests.total, anvils, record_bytes, ledger?.bytes, ledger?.transactions, last_request_at]
    })
    print(flags, usage, rows, ['namespace', 'requests', 'Anvils', 'record', 'ledger', 'transactions', 'last request'])
  })
}

/** `reset`: takes everything back to the initial state. */
export function resetCommand(): Command {
  return controlCommand('reset', 'Back to the fixtures: state, chain, faults, scenario, clock.', [
    'reset',
    'reset --url http://127.0.0.1:4011 --json',
  ]).action(async (flags: ControlFlags) => {
    const state = await clientOf(flags).reset()
    print(flags, state, [[state.ready ? 'ready' : `not ready: ${state.reason}`]])
  })
}

/** Refuses to end a sandbox that runs for another folder, and has but the default address. Throws OptionError. */
async function refuseOthers(client: ControlClient): Promise<void> {
  const other = recordOf((await client.health()).instance)
  if (other === undefined) return
  const { folder, url, pid } = other
  throw new OptionError(
    `no sandbox runs for this folder; the one at ${url} is that of ${folder}, process ${pid}: --url ${url} ends it`,
  )
}

/** `stop`: ends a running sandbox, and returns when it is gone. */
export function stopCommand(): Command {
  return sandboxCommand(
    'stop',
    'End the sandbox of this folder, or the one that --url names, as Ctrl-C would. Returns when its port is free.',
    ['stop', 'stop --url localhost:4011'],
  ).action(async (flags: ControlFlags, command: Command) => {
    const client = clientOf(flags)
    if (command.getOptionValueSource('url') === 'default') await refuseOthers(client)
    await client.stop()
    print(flags, { stopped: true }, [['stopped']])
  })
}
