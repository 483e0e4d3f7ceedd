import { ControlClient } from '../control/client.ts'
import type { Credentials } from '../control/contract.ts'
import { ControlError } from '../control/control-error.ts'
import { trustingFetch } from '../control/trusting-fetch.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import { OptionError, refuseUnknownNames } from '../option-error.ts'
import { handleOf, type SandboxHandle, type Ways } from './handle.ts'

/** Address of a running sandbox, and the means to reach it. */
export interface ConnectOptions {
  /** URL of the sandbox from here; a scheme is optional: `localhost:4010`. The handle's addresses begin with it. */
  url: string
  /** Bearer token of its control interface, if it needs one. */
  controlToken?: string
  /** PEM text of the authority to trust, for https: the content of the file that `ca_file` of a self-signed sandbox names. */
  ca?: string
  /** The handle's namespace; default: the one that every sandbox has. */
  namespace?: string
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
  return connect(options, { lazyChains: true })
}

async function connect(options: ConnectOptions, { lazyChains }: Pick<Ways, 'lazyChains'>): Promise<SandboxHandle> {
  refuseUnknownNames(options, { url: true, controlToken: true, ca: true, namespace: true }, 'connectSandbox')
  const fetchFn = options.ca === undefined ? fetch : trustingFetch(options.ca)
  const { url, controlToken, namespace } = options
  if (typeof url !== 'string')
    throw new OptionError(`url must be that of a sandbox, such as localhost:4010; got ${url}`)
  const client = new ControlClient(url, { controlToken, fetch: fetchFn, namespace })
  const { ready, reason } = await client.readiness()
  if (!ready) throw new ControlError(`the sandbox is not ready: ${reason}`, { code: 'sandbox_starting' })
  const shared = namespace === undefined || namespace === DEFAULT_NAMESPACE
  const stop = () => (shared ? client.stop() : client.deleteNamespace(namespace))
  // A sandbox of an earlier version has no such places; `next` reports that when it is called.
  const place = await client.nextRequest({ after: 'now', wait_ms: 0 }).then(
    (next) => next.place,
    () => undefined,
  )
  const ways = { addressed: reachedAt(client.origin), begin: place, fetch: fetchFn, lazyChains, stop }
  return handleOf(client, { ...ways, dispose: async () => undefined })
}

/**
 * Gives the addresses in credentials the origin under which the sandbox was reached, which the sandbox itself does not know behind a
 * mapped port or another name.
 */
function reachedAt(origin: string): (credentials: Credentials) => Credentials {
  return (credentials) => {
    const { base_url, auth_url, control_url, rpc_urls } = credentials
    const own = new URL(control_url).origin
    const moved = (url: string) => (url.startsWith(own) ? `${origin}${url.slice(own.length)}` : url)
    return {
      ...credentials,
      base_url: moved(base_url),
      auth_url: moved(auth_url),
      control_url: moved(control_url),
      rpc_urls: Object.fromEntries(Object.entries(rpc_urls).map(([chain, url]) => [chain, moved(url)])),
    }
  }
}
