import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { controlRoutes } from '../control/control-routes.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { createApp, type Neighbours } from '../http/app.ts'
import { createSideServer } from '../http/front-server.ts'
import { inProcessFetch } from '../http/in-process-fetch.ts'
import type { ListenedApp } from '../http/listener.ts'
import { rpcProxy } from '../http/rpc-proxy.ts'
import { tokenEndpointFaults } from '../http/token-endpoint-faults.ts'
import { identityRoutes } from '../identity/identity-routes.ts'
import type { SandboxLogger } from '../options.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import { shippedScenarios } from '../scenarios/find-scenario.ts'
import type { ServerCertificate } from '../tls/server-certificate.ts'
import { version } from '../version.ts'
import { type SandboxParts, type ServedSandbox, servedSandbox } from './served-sandbox.ts'

/** Everything that a sandbox answers on its origin: the service, and what is beside it. */
export interface Application extends ListenedApp {
  /** Returns a `fetch` for this process that needs no network; `remoteAddress`: who its requests come from. */
  fetchFrom(remoteAddress?: string): typeof fetch
  /** Serves a sandbox within this one too, by a server of its own. */
  ofGuest(guest: SandboxParts): Application
}

/** Dependencies of {@link createApplication}. */
export interface ApplicationDeps {
  settings: ServiceSettings
  certificate: ServerCertificate | undefined
  log: SandboxLogger
}

/** The sandbox of a request that came to a guest. A member, since a weak map would cost every request of every sandbox something. */
const GUEST = Symbol('guest')

interface LedRequest extends IncomingMessage {
  [GUEST]?: ServedSandbox
}

/**
 * Builds the application of a sandbox, not yet listening. In a file of its own, since it takes with it Fastify and all routes, which are
 * loaded while an Anvil comes up.
 */
export async function createApplication(
  parts: SandboxParts,
  { settings, certificate, log }: ApplicationDeps,
): Promise<Application> {
  const { options, origin } = parts.surroundings
  const fetchFrom = (remoteAddress?: string) => inProcessFetch(app, new URL(origin.url).host, remoteAddress)
  const own = servedSandbox(parts, fetchFrom)
  const sandboxOf = (request: LedRequest) => request[GUEST] ?? own
  const app: FastifyInstance = await createApp({
    settings,
    fallback: own.fallback,
    sandboxOf,
    log,
    shared: options.database,
    tls: certificate,
    inspector: options.inspector ? new URL('dist/inspector/', PACKAGE_ROOT) : undefined,
    docs: new URL('dist/docs/', PACKAGE_ROOT),
    neighbours: neighboursOf(settings, sandboxOf),
  })
  const ofGuest = (guest: SandboxParts) => guestApplication(app, guest)
  return { server: app.server, ready: () => app.ready(), close: () => app.close(), fetchFrom, ofGuest }
}

/** The same application at another server: building its routes again would take five times as long as all else of a guest. */
function guestApplication(app: FastifyInstance, parts: SandboxParts): Application {
  const fetchFrom = () => fetch // a guest is on loopback, without TLS
  const guest = servedSandbox(parts, fetchFrom)
  const { ids, service } = guest.fallback
  const lead = (request: LedRequest) => {
    request[GUEST] = guest
  }
  const server = createSideServer(app.server, lead, { ids, settings: service.settings })
  const close = promisify(server.close.bind(server))
  return { server, ready: () => app.ready(), close, fetchFrom, ofGuest: (inner) => guestApplication(app, inner) }
}

/** Registers the routes on the service's origin beside it: identity provider, RPC, control. */
function neighboursOf(settings: ServiceSettings, sandboxOf: (request: IncomingMessage) => ServedSandbox): Neighbours {
  return async (app, entrance) => {
    await app.register(async (scope) => {
      const tokenEndpoint = tokenEndpointFaults(scope, { entrance, sandboxOf })
      await scope.register(identityRoutes, {
        settings,
        providerOf: ({ raw }) => sandboxOf(raw).identityProvider,
        findTenant: ({ namespace }, clientId) => namespace.service.store.find('tenants', 'client_id', clientId),
        tenantInAddress: async ({ raw }, written) => sandboxOf(raw).tenantInAddress(written),
        ...tokenEndpoint,
      })
    })
    await app.register(rpcProxy, { sandboxOf: (request) => sandboxOf(request).rpc })
    await app.register(controlRoutes, { version, shippedScenarios, sandboxOf: ({ raw }) => sandboxOf(raw).control })
  }
}
