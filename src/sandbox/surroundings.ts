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
import { News } from '../overview/news.ts'
import type { ResolvedOptions } from '../resolve-options.ts'
import type { Logger } from '../support/logger.ts'
import { RequestMeter } from '../traffic/request-counts.ts'

/** Parts that all namespaces of a sandbox share. */
export interface Surroundings {
  options: ResolvedOptions
  identity: Identity
  /** Client secrets of the sandbox's own fixture: in any namespace a client may send one by mistake. */
  secrets: readonly string[]
  /** Initial state of embedded chains: one object for all namespaces, since it is large. */
  embedded: Promise<Checkpoint>
  /** The Anvils of all chains. */
  pool: NodePool
  /** Of the namespaces as a whole: one was made or deleted, or something failed in one. */
  news: News
  /** Counts of all requests, by namespace. */
  meter: RequestMeter
  log: Logger
  /** Address at which clients find the sandbox. */
  origin: Origin
  /** Path of the certificate that clients have to trust; undefined without a self-signed certificate. */
  caFile: string | undefined
}

/** Builds the parts that the namespaces of a sandbox with this fixture share. */
export function buildSurroundings(
  fixture: Fixture,
  given: Pick<Surroundings, 'options' | 'log' | 'origin' | 'caFile'>,
): Surroundings {
  const { options, log, origin } = given
  const embedded = embeddedCheckpoint()
  embedded.catch(() => undefined) // its users await it and get the rejection
  const pool = new NodePool({ maxNodes: options.maxNodes, clock: new SandboxClock(), log })
  const secrets = fixture.tenants.map(({ tenant }) => tenant.client_secret)
  return {
    ...given,
    identity: buildIdentity(fixture, origin),
    secrets,
    embedded,
    pool,
    news: new News(),
    meter: new RequestMeter(),
  }
}

/** The parts that a sandbox within this one has of its own, and those that it shares. */
export function guestSurroundings(
  host: Surroundings,
  fixture: Fixture,
  given: Pick<Surroundings, 'options' | 'origin'>,
): Surroundings {
  const identity = buildIdentity(fixture, given.origin)
  return { ...host, ...given, identity, news: new News(), meter: new RequestMeter(), caFile: undefined }
}

/** The identity provider, the verifier of its tokens, and a key that is registered nowhere: one of each for all namespaces. */
export type Identity = ReturnType<typeof buildIdentity>

/** Builds them for the service that the fixture describes. */
function buildIdentity({ identity_provider, settings }: Fixture, origin: Origin) {
  const clock = new SandboxClock() // for real time only: tokens have no other
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
