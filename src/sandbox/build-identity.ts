import { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import { audiencesOf } from '../domain/audiences.ts'
import { SandboxClock } from '../domain/clock.ts'
import type { Origin } from '../domain/origin.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { IdentityProvider } from '../identity/identity-provider.ts'
import { UnknownKey } from '../identity/unknown-key.ts'

/** The identity provider, what verifies its tokens, and a key that nobody registered: one of each for all namespaces. */
export type Identity = ReturnType<typeof buildIdentity>

/** Builds them for the service that the fixture describes. */
export function buildIdentity({ identity_provider, settings }: Fixture, origin: () => Origin) {
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
