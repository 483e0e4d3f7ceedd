import { ControlClient } from '../control/client.ts'
import type { Credentials } from '../control/contract.ts'
import { ControlError } from '../control/control-error.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import { OptionError } from '../option-error.ts'
import { handleOf, type SandboxHandle, type Ways } from './handle.ts'

/** Address of a running sandbox. */
export interface SandboxAddress {
  /** URL of the sandbox from here; a scheme is optional: `localhost:4010`. The handle's addresses begin with it. */
  url: string
  /** Bearer token of its control interface, if it needs one. */
  controlToken?: string
  /** The handle's namespace; default: the one that every sandbox has. */
  namespace?: string
}

/** Returns the handle of the sandbox at an address. Throws OptionError or ControlError, as `connectSandbox` does. */
export async function connectTo(
  { url, controlToken, namespace }: SandboxAddress,
  ways: Pick<Ways, 'fetch' | 'loadViem' | 'requireViem'>,
): Promise<SandboxHandle> {
  if (typeof url !== 'string')
    throw new OptionError(`url must be that of a sandbox, such as localhost:4010; got ${url}`)
  const client = new ControlClient(url, { controlToken, fetch: ways.fetch, namespace })
  const { ready, reason } = await client.readiness()
  if (!ready) throw new ControlError(`the sandbox is not ready: ${reason}`, { code: 'sandbox_starting' })
  const shared = namespace === undefined || namespace === DEFAULT_NAMESPACE
  const stop = () => (shared ? client.stop() : client.deleteNamespace(namespace))
  // A sandbox of an earlier version has no such places; `next` reports that when it is called.
  const begin = await client.nextRequest({ after: 'now', wait_ms: 0 }).then(
    (next) => next.place,
    () => undefined,
  )
  return handleOf(client, { ...ways, addressed: reachedAt(client.origin), begin, stop, dispose: async () => undefined })
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
