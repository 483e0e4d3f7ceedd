/// <reference lib="esnext.disposable" preserve="true" />
// The entry `yield-sandbox/client`: a handle of a sandbox that runs elsewhere, for code that is bundled or has no modules of Node's.
import { createTestClient, defineChain, http, publicActions } from 'viem'
import { connectTo, type SandboxAddress } from './library/connect-to.ts'
import type { SandboxHandle } from './library/handle.ts'
import { OptionError, refuseUnknownNames } from './option-error.ts'

/**
 * Returns the handle of a sandbox that runs elsewhere, as `connectSandbox` of `yield-sandbox` does, by nothing but `fetch`. Throws
 * OptionError, or ControlError: `sandbox_unreachable`, or `sandbox_starting` if it is not ready yet.
 * @example
 * import { connectSandbox } from 'yield-sandbox/client'
 * const sandbox = await connectSandbox({ url: 'http://127.0.0.1:4010' })
 */
export async function connectSandbox(options: SandboxAddress): Promise<SandboxHandle> {
  if (Object.hasOwn(options, 'ca')) {
    const fix = "import connectSandbox from 'yield-sandbox', or start Node with NODE_EXTRA_CA_CERTS"
    throw new OptionError(`fetch alone cannot trust the authority in ca; ${fix}`)
  }
  refuseUnknownNames(options, { url: true, controlToken: true, namespace: true }, 'connectSandbox')
  return connectTo(options, { fetch, loadViem: async () => ({ createTestClient, defineChain, http, publicActions }) })
}

export { ControlError, RefusedError } from './control/control-error.ts'
export type * from './library/public-types.ts'
export { OptionError } from './option-error.ts'
