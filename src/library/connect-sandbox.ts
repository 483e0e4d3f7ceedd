import { trustingFetch } from '../control/trusting-fetch.ts'
import { refuseUnknownNames } from '../option-error.ts'
import { connectTo, type SandboxAddress } from './connect-to.ts'
import type { SandboxHandle, Ways } from './handle.ts'
import { loadViem, requireViem } from './load-viem.ts'

/** Address of a running sandbox, and the means to reach it. */
export interface ConnectOptions extends SandboxAddress {
  /** PEM text of the authority to trust, for https: the content of the file that `ca_file` of a self-signed sandbox names. */
  ca?: string
}

/**
 * Returns the handle of a sandbox that runs elsewhere: in a container, in another process, in Jest's `globalSetup`. Throws OptionError, or
 * ControlError: `sandbox_unreachable`, or `sandbox_starting` if it is not ready yet.
 * @example
 * const sandbox = await connectSandbox({ url: 'http://127.0.0.1:4010' })
 * await sandbox.reset()
 * @example
 * const mine = await connectSandbox({ url: 'http://127.0.0.1:4010', namespace: 'pull-request-7' })
 * await mine.clock.advance('8d')
 */
export async function connectSandbox(options: ConnectOptions): Promise<SandboxHandle> {
  return connect(options, {})
}

/** As {@link connectSandbox}, but viem is loaded when somebody first reads `chain`: that takes as long as everything else of a test. */
export function connectLazily(options: ConnectOptions): Promise<SandboxHandle> {
  return connect(options, { requireViem })
}

async function connect(options: ConnectOptions, ways: Pick<Ways, 'requireViem'>): Promise<SandboxHandle> {
  refuseUnknownNames(options, { url: true, controlToken: true, ca: true, namespace: true }, 'connectSandbox')
  const { ca, ...address } = options
  return connectTo(address, { fetch: ca === undefined ? fetch : trustingFetch(ca), loadViem, ...ways })
}
