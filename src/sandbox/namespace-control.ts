import type { NamespaceControl } from '../control/control-parts.ts'
import { mintUserToken } from '../identity/mint-user-token.ts'
import { credentialsOf } from './credentials.ts'
import { evidenceOf } from './evidence-of.ts'
import type { Namespace } from './namespace.ts'
import type { Surroundings } from './surroundings.ts'

/** Loaded when somebody asks: it is long, and most runs never need it. */
const manifest = () => import('../domain/fidelity/manifest.ts')

/** A namespace as the control interface needs it. */
export function controlNamespace(namespace: Namespace, around: Surroundings): NamespaceControl {
  const { service, chains, exchanges, faults, scenarios, userTokens } = namespace.services
  const { settings, clock } = service
  const { identityProvider, unknownKey } = around.identity
  const active = { service: settings, confirmation_delay: namespace.confirmationDelay }
  return {
    seed: namespace.seed,
    clock,
    keepClock: (state) => namespace.keepClock(state),
    clockKept: () => namespace.clockKept(),
    chainsFollow: () => chains.follow(clock),
    faults,
    exchanges,
    isSettled: async (id) => (await service.store.get('transactions', id)) !== undefined,
    evidence: (clients) => evidenceOf(namespace, clients),
    takenAway: namespace.takenAway,
    scenarios,
    readiness: () => namespace.readiness(),
    credentials: () => credentialsOf(namespace, around),
    fidelity: async () => (await manifest()).fidelity(active),
    assumptions: async () => (await manifest()).assumptions(active),
    audit: () => namespace.audit(),
    reset: () => namespace.reset(),
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
  }
}
