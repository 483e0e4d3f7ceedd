import type { FastifyInstance } from 'fastify'
import type { Guest, GuestWish } from '../control/contract.ts'
import type { Sessions } from '../control/sessions.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { createApp } from '../http/app.ts'
import type { SandboxLogger } from '../options.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import type { ServerCertificate } from '../tls/server-certificate.ts'
import type { FleetNamespaces } from './fleet-namespaces.ts'
import { Lead } from './lead.ts'
import type { Namespaces } from './namespaces.ts'
import { supportRoutes } from './support-routes.ts'
import type { Surroundings } from './surroundings.ts'

/** Dependencies of {@link createApplication}. */
export interface ApplicationDeps {
  settings: ServiceSettings
  namespaces: Namespaces
  /** Those of all processes, in one of several. */
  fleet: FleetNamespaces | undefined
  surroundings: Surroundings
  sessions: Sessions
  certificate: ServerCertificate | undefined
  /** Id of this sandbox. */
  instance: string
  log: SandboxLogger
  /** Makes a sandbox within this one. */
  createGuest(wish: GuestWish): Promise<Guest>
  /** Ends the sandbox. */
  stop(): Promise<void>
}

/**
 * Everything that a sandbox answers on its origin, not yet listening: the service, and what is beside it. In a file of its own, since
 * it takes with it Fastify and all routes, which are loaded while an Anvil comes up.
 */
export function createApplication(deps: ApplicationDeps): Promise<FastifyInstance> {
  const { settings, namespaces, surroundings, certificate, log } = deps
  const { options, origin, identity } = surroundings
  const lead = new Lead(namespaces, identity.idpTokens)
  return createApp({
    settings,
    get fallback() {
      return namespaces.fallback
    },
    namespaceOf: lead.byHead,
    log,
    shared: options.database,
    tls: certificate,
    controlToken: options.controlToken,
    origin,
    inspector: options.inspector ? new URL('dist/inspector/', PACKAGE_ROOT) : undefined,
    docs: new URL('dist/docs/', PACKAGE_ROOT),
    neighbours: (app, entrance) => supportRoutes(app, { ...deps, lead, options, entrance }),
  })
}
