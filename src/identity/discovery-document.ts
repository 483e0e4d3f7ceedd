import type { Static } from '@sinclair/typebox'
import { issuerAt } from '../domain/issuer.ts'
import type { DiscoverySchema } from './schemas.ts'

/** What a discovery document is about. */
export interface Discovered {
  /** The URL the sandbox was asked under. */
  url: string
  /** For the issuer at a tenant's own address. */
  tenantId?: string | undefined
  /** What may be asked for. */
  scopes: string[]
}

/** Paths of the endpoints, or of a tenant's own, which are those of Entra ID. */
export function endpointPaths(tenantId?: string) {
  return tenantId === undefined
    ? { token: '/oauth2/token', authorize: '/oauth2/authorize' }
    : { token: `/${tenantId}/oauth2/v2.0/token`, authorize: `/${tenantId}/oauth2/v2.0/authorize` }
}

/** The metadata an OAuth client library starts from (RFC 8414, OpenID Connect Discovery). */
export function discoveryDocument({ url, tenantId, scopes }: Discovered): Static<typeof DiscoverySchema> {
  const { token, authorize } = endpointPaths(tenantId)
  return {
    issuer: issuerAt(url, tenantId),
    // Microsoft's libraries take nothing without it for a discovery document.
    authorization_endpoint: `${url}${authorize}`,
    token_endpoint: `${url}${token}`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    scopes_supported: scopes,
    response_types_supported: ['token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
}
