import type { FastifyInstance } from 'fastify'
import { controlRoutes } from '../control/control-routes.ts'
import type { Entrance } from '../http/entrance.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import { rpcProxy } from '../http/rpc-proxy.ts'
import { tokenEndpointFaults } from '../http/token-endpoint-faults.ts'
import { identityRoutes } from '../identity/identity-routes.ts'
import type { ResolvedOptions } from '../options.ts'
import { shippedScenarios } from '../scenarios/shipped-scenarios.ts'
import { version } from '../version.ts'
import type { Lead } from './lead.ts'
import { controlNamespace } from './namespace-control.ts'
import type { Namespaces } from './namespaces.ts'
import type { Surroundings } from './surroundings.ts'

/** What the routes beside the service lead to. */
export interface SupportDeps {
  namespaces: Namespaces
  lead: Lead
  surroundings: Surroundings
  options: ResolvedOptions
  entrance: Entrance
  /** Ends the sandbox. */
  stop(): Promise<void>
}

/** Registers what lives on the service's origin beside it: identity provider, RPC, control. */
export async function supportRoutes(app: FastifyInstance, deps: SupportDeps): Promise<void> {
  const { namespaces, surroundings, options } = deps
  const { origin } = surroundings
  await app.register(async (scope) => registerIdentity(scope, deps))
  await app.register(rpcProxy, {
    namespace: async (name) => (await namespaces.get(name)).http,
    local: options.local,
    origin,
  })
  const { clock } = namespaces.default.services.service
  await app.register(controlRoutes, {
    version,
    controlToken: options.controlToken,
    origin,
    wallNow: () => clock.wallNow(),
    readiness: () => namespaces.default.readiness(),
    shippedScenarios,
    stop: deps.stop,
    namespace: async (name) => controlNamespace(await namespaces.get(name), surroundings),
    namespaces,
  })
}

async function registerIdentity(scope: FastifyInstance, { namespaces, lead, surroundings, entrance }: SupportDeps) {
  const { http, fixture } = namespaces.default
  const tokenEndpoint = tokenEndpointFaults(scope, { entrance, namespaceOfClient: lead.byClient })
  await scope.register(identityRoutes, {
    provider: surroundings.identity.identityProvider,
    settings: fixture.settings,
    findTenant: ({ namespace }, clientId) => namespace.service.store.find('tenants', 'client_id', clientId),
    tenantIdAs: async (written) => {
      refuseUnlessReady(http.notReady())
      return namespaces.tenantIdAs(written)
    },
    ...tokenEndpoint,
  })
}
