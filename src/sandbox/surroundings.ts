import { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import type { Checkpoint } from '../chain/history/checkpoint.ts'
import { embeddedCheckpoint } from '../chain/markets/embedded-market.ts'
import { NodePool } from '../chain/node-pool.ts'
import { SandboxClock } from '../domain/clock.ts'
import { audiencesOf } from '../domain/idp-claims.ts'
import type { Origin } from '../domain/origin.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { IdentityProvider } from '../identity/identity-provider.ts'
import { UnknownKey } from '../identity/sign-jwt.ts'
import type { ResolvedOptions } from '../resolve-options.ts'
import type { Logger } from '../support/logger.ts'

/** What all namespaces of a sandbox share. */
export interface Surroundings {
  options: ResolvedOptions
  identity: Identity
  /** Client secrets of the fixture that the sandbox was started with: in every namespace a client may send one by mistake. */
  secrets: readonly string[]
  /** What embedded chains begin with: one object for all, since it is large. */
  embedded: Promise<Checkpoint>
  /** The Anvils of all chains. */
  pool: NodePool
  log: Logger
  /** Where clients find it. */
  origin: Origin
  /** What clients have to trust; undefined without a self-signed certificate. */
  caFile: string | undefined
}

/** Builds what the namespaces of a sandbox with this fixture share. */
export function buildSurroundings(
  fixture: Fixture,
  given: Pick<Surroundings, 'options' | 'log' | 'origin' | 'caFile'>,
): Surroundings {
  const { options, log, origin } = given
  const embedded = embeddedCheckpoint()
  embedded.catch(() => undefined) // who needs it awaits it, and sees the failure
  const pool = new NodePool({ maxNodes: options.maxNodes, clock: new SandboxClock(), log })
  const secrets = fixture.tenants.map(({ tenant }) => tenant.client_secret)
  return { ...given, identity: buildIdentity(fixture, origin), secrets, embedded, pool }
}

/** The identity provider, what verifies its tokens, and a key that nobody registered: one of each for all namespaces. */
export type Identity = ReturnType<typeof buildIdentity>

/** Builds them for the service that the fixture describes. */
function buildIdentity({ identity_provider, settings }: Fixture, origin: Origin) {
  const clock = new SandboxClock() // of real time alone: tokens know no other
  const unknownKey = new UnknownKey()
  const identityProvider = new IdentityProvider({
    privateKeyPem: identity_provider.private_key_pem,
    kid: identity_provider.kid,
    origin,
    audience: settings.audience,
    lifetime: settings.idp_token_lifetime,
    clock,
    unknownKey,
  })
  const idpTokens = new IdpTokenVerifier({
    jwks: identityProvider.jwks(),
    audiences: audiencesOf(settings),
    origin,
    isOwn: (token) => identityProvider.signed(token),
    clock,
    leeway: settings.user_token_leeway,
  })
  return { identityProvider, idpTokens, unknownKey }
}
