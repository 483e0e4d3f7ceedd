import { ControlClient } from '../control/client.ts'
import type { SandboxOptions } from '../options.ts'
import { FleetMember } from '../sandbox/fleet-member.ts'
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
  if (options.fleetPort !== undefined) return startMember(options)
  const sandbox = await Sandbox.listen(options)
  const stop = () => sandbox.stop()
  try {
    await sandbox.ready
    const { baseUrl, options: resolved } = sandbox
    const client = new ControlClient(baseUrl, { controlToken: resolved.controlToken, fetch: sandbox.fetch })
    return await handleOf(client, { fetch: sandbox.fetch, loadViem, stop, dispose: stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a process of several, which need not have the state itself. */
async function startMember(options: SandboxOptions): Promise<SandboxHandle> {
  const member = await FleetMember.start(options)
  const stop = () => member.stop()
  try {
    const { controlToken } = member.options
    const client = new ControlClient(member.baseUrl, { controlToken, fetch: member.fetch })
    return await handleOf(client, { fetch: member.fetch, loadViem, stop, dispose: stop })
  } catch (error) {
    await stop()
    throw error
  }
}
