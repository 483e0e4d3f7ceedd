import type { FastifyInstance } from 'fastify'
import type { Credentials } from '../control/contract.ts'
import { controlRoutes } from '../control/control-routes.ts'
import type { Origin } from '../domain/origin.ts'
import { refuseUnlessReady } from '../http/pipeline.ts'
import { rpcProxy } from '../http/rpc-proxy.ts'
import { tokenEndpointFaults } from '../http/token-endpoint-faults.ts'
import { identityRoutes } from '../identity/identity-routes.ts'
import { mintUserToken } from '../identity/mint-user-token.ts'
import type { ResolvedOptions } from '../options.ts'
import { shippedScenarios } from '../scenarios/shipped-scenarios.ts'
import { version } from '../version.ts'
import type { Namespace } from './namespace.ts'

/** What is asked of the sandbox around a namespace. */
export interface SandboxControls {
  readonly origin: Origin
  credentials(): Promise<Credentials>
  stop(): Promise<void>
}

/** Loaded when somebody asks: it is long, and most runs never need it. */
const manifest = () => import('../domain/fidelity/manifest.ts')

/** Registers what lives on the service's origin beside it: identity provider, RPC, control. */
export async function supportRoutes(
  app: FastifyInstance,
  namespace: Namespace,
  options: ResolvedOptions,
  sandbox: () => SandboxControls,
): Promise<void> {
  const { service, chains, identityProvider, unknownKey, userTokens, faults, scenarios } = namespace.services
  const { settings, clock, store } = service
  const active = { service: settings, confirmation_delay: options.confirmationDelay }
  await app.register(async (scope) => {
    const wish = tokenEndpointFaults(scope, {
      ...namespace.services,
      controlToken: options.controlToken,
      answered: (exchange, status) => scenarios.answered(exchange, status),
      notReady: () => namespace.notReady(),
    })
    const findTenant = (clientId: string) => store.find('tenants', 'client_id', clientId)
    const isTenant = async (tenantId: string) => {
      refuseUnlessReady(namespace.notReady())
      return (await store.get('tenants', tenantId)) !== undefined
    }
    await scope.register(identityRoutes, { provider: identityProvider, settings, findTenant, isTenant, wish })
  })
  await app.register(rpcProxy, {
    chains,
    local: options.local,
    origin: () => sandbox().origin,
    notReady: () => namespace.notReady(),
  })
  await app.register(controlRoutes, {
    version,
    clock,
    clockKept: () => namespace.clockKept(),
    chainsFollow: () => chains.follow(clock),
    faults,
    scenarios,
    shippedScenarios,
    controlToken: options.controlToken,
    origin: () => sandbox().origin,
    readiness: () => namespace.readiness(),
    credentials: () => sandbox().credentials(),
    fidelity: async () => (await manifest()).fidelity(active),
    assumptions: async () => (await manifest()).assumptions(active),
    audit: () => namespace.audit(),
    reset: () => namespace.reset(),
    stop: () => sandbox().stop(),
    tenants: () => namespace.tenants(),
    forgetUserKeys: () => userTokens.clear(),
    mintUserToken: (tenant, wish) => mintUserToken(tenant, wish, { audience: settings.audience, clock, unknownKey }),
    mintIdpToken: async (tenant, { expires_in, ...wish }) => {
      const { access_token, expires_in: lifetime } = await identityProvider.issueToken(tenant, {
        ...wish,
        lifetime: expires_in,
      })
      return { token: access_token, expires_at: new Date(clock.wallNow() + lifetime * 1000).toISOString() }
    },
  })
}
