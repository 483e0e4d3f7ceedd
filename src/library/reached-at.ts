import type { Credentials } from '../control/contract.ts'

/**
 * Gives the addresses in credentials the origin under which the sandbox was reached: behind a mapped port, or by another name, it
 * does not know that one itself.
 */
export function reachedAt(origin: string): (credentials: Credentials) => Credentials {
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
