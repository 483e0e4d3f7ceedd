import { ControlClient } from '../control/client.ts'
import type { SandboxOptions } from '../options.ts'
import type { FleetMember } from '../sandbox/fleet-member.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { handleOf, type SandboxHandle } from './handle.ts'
import { loadViem } from './load-viem.ts'

/**
 * Starts a sandbox in this process and resolves when it can serve. Installs no signal handlers. Throws OptionError, FixtureError, another
 * error with a `code`, or the operating system's error about the port, and then leaves nothing running.
 * @example
 * await using sandbox = await startSandbox({ port: 0, confirmationDelay: 0 })
 * const userToken = await sandbox.userToken('alice')
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxHandle> {
  const started = options.fleetPort === undefined ? await Sandbox.listen(options) : await startMember(options)
  const stop = () => started.stop()
  try {
    if (started instanceof Sandbox) await started.ready
    const { baseUrl, fetch, options: resolved } = started
    const client = new ControlClient(baseUrl, { controlToken: resolved.controlToken, fetch })
    return await handleOf(client, { fetch, loadViem, stop, dispose: stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a process of several, which need not have the state itself. Loaded here: no other start needs it. */
async function startMember(options: SandboxOptions): Promise<FleetMember> {
  const { FleetMember } = await import('../sandbox/fleet-member.ts')
  return FleetMember.start(options)
}
