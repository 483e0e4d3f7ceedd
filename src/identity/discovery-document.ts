import type { Static } from '@sinclair/typebox'
import type { DiscoverySchema } from './schemas.ts'

/** The metadata an OAuth client library starts from (RFC 8414, OpenID Connect Discovery), for the given base URL. */
export function discoveryDocument(origin: string, audience: string): Static<typeof DiscoverySchema> {
  return {
    issuer: origin,
    token_endpoint: `${origin}/oauth2/token`,
    jwks_uri: `${origin}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    scopes_supported: [`${audience}/.default`],
    response_types_supported: ['token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
}
