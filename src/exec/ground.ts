import { ControlClient } from '../control/client.ts'
import { RUNNER_HEADER } from '../control/control-parts.ts'
import type { SandboxOptions } from '../options.ts'
import { clientOfRecord } from '../running/find-sandbox.ts'
import type { SandboxRecord } from '../running/sandbox-record.ts'
import type { Services } from '../sandbox/build-services.ts'

/** The sandbox that a command is run against: started for it, or within one that runs already. */
export interface Ground {
  /** Its control interface; what goes through it does not count as done by the command. */
  client: ControlClient
  /** False if all its markets belong to real chains: faults cannot change those. */
  ownsMarkets: boolean
  /** True if transfers are confirmed with a delay. */
  delaysConfirmation: boolean
  /** The inside of one of its namespaces; undefined if the sandbox is another process. */
  inside?(namespace: string): Promise<Inside>
  /** Resolves to the number of requests that came meanwhile to the sandbox around it; undefined if there is none. */
  astray(): Promise<Astray | undefined>
  stop(): Promise<void>
}

/** Settings of the service by name, as a fixture file writes them. */
type ServiceSection = Readonly<Record<string, unknown>>

/** Parts of a namespace that no interface offers: what holds an exchange must know at once that it is held. */
export interface Inside extends Pick<Services, 'faults' | 'exchanges'> {
  /**
   * Resolves to the URL of a second address of the sandbox, by which the requests of a second process are known: the same port of this
   * host (default: 127.0.0.2) or, where the machine does not have it, another port.
   */
  secondUrl(host?: string): Promise<string>
}

/** Address of a second process; macOS does not have it. */
const SECOND_HOST = '127.0.0.2'

/** Requests to the sandbox of the folder itself while a command ran within it: they may be the command's, and are not judged. */
export interface Astray {
  url: string
  requests: number
}

/** A sandbox of the caller's own, or one within `host`. Throws the errors of a sandbox that cannot start, and ControlError. */
export function openGround(options: SandboxOptions, host: SandboxRecord | undefined): Promise<Ground> {
  return host === undefined ? ownGround(options) : joinedGround(options, host)
}

/**
 * A sandbox of the caller's own. `service`: settings that replace those of the fixture file, as such a file writes them. Throws the errors
 * of a sandbox that cannot start.
 */
export async function ownGround(options: SandboxOptions, service: ServiceSection = {}): Promise<Ground> {
  // Loaded here: a run within another sandbox does without it, and is there sooner.
  const { Sandbox } = await import('../sandbox/sandbox.ts')
  // Every run has a port of its own: so the requests of a wrongly configured client end up in its report all the same.
  const sandbox = await Sandbox.listen({ ...options, port: 0, host: '127.0.0.1' }, service)
  try {
    await sandbox.ready
    const { controlToken } = sandbox.options
    const second = new Map<string, Promise<string>>()
    const secondUrl = (host = SECOND_HOST) => {
      const url = second.get(host) ?? sandbox.openBeside(host)
      second.set(host, url)
      return url
    }
    return {
      client: new ControlClient(sandbox.baseUrl, { controlToken, fetch: sandbox.fetch }),
      ownsMarkets: sandbox.ownsMarkets,
      delaysConfirmation: sandbox.delaysConfirmation,
      inside: async (name) => {
        const { faults, exchanges } = (await sandbox.namespaces.get(name)).services
        return { faults, exchanges, secondUrl }
      },
      astray: async () => undefined,
      stop: () => sandbox.stop(),
    }
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}

/** Requests with this header are the runner's, not those of the command. */
const asRunner: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), [RUNNER_HEADER]: '1' } })

async function joinedGround(options: SandboxOptions, host: SandboxRecord): Promise<Ground> {
  const { seed, clock, confirmationDelay } = options
  const outer = clientOfRecord(host)
  const before = await requestsOf(outer)
  const { credentials, owns_markets, delays_confirmation } = await outer.createGuest({
    pid: process.pid,
    ...(seed !== undefined && { seed }),
    ...(clock !== undefined && { clock }),
    ...(confirmationDelay !== undefined && { confirmation_delay: confirmationDelay }),
  })
  const client = new ControlClient(new URL(credentials.control_url).origin, { fetch: asRunner })
  return {
    client,
    ownsMarkets: owns_markets,
    delaysConfirmation: delays_confirmation,
    astray: async () => ({ url: host.url, requests: Math.max(0, (await requestsOf(outer)) - before) }),
    stop: () => client.beginStop(),
  }
}

/** Number of requests on record in the namespace that every sandbox has. */
async function requestsOf(client: ControlClient): Promise<number> {
  const [own] = await client.namespaces()
  return own?.requests ?? 0
}
