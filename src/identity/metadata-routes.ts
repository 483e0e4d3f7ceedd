import type { Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../domain/errors.ts'
import { audiencesOf, issuerAt, scopeOf } from '../domain/idp-claims.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { shorten } from '../support/foreign-text.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { DiscoverySchema, JwksSchema, TenantParamsSchema } from './schemas.ts'

/** Dependencies of the metadata routes. */
export interface MetadataOptions {
  provider: IdentityProvider
  settings: Pick<ServiceSettings, 'audience' | 'idp_scopes' | 'idp_token_lifetime'>
  /** Returns the id of the tenant that an address names, in any case. Throws Problem while the tenants are not known yet. */
  tenantIdAs(written: string): Promise<string | undefined>
}

const TAGS = ['Identity provider']

/** Well-known addresses of the metadata, by issuer: OpenID Connect Discovery §4 appends, RFC 8414 §3.1 inserts. */
const METADATA = [
  ['/.well-known/openid-configuration', 'get_openid_configuration', 'OpenID Connect discovery document'],
  ['/.well-known/oauth-authorization-server', 'get_authorization_server', 'Authorization server metadata (RFC 8414)'],
] as const
const TENANT_METADATA = [
  [
    '/:tenant_id/v2.0/.well-known/openid-configuration',
    'get_tenant_openid_configuration',
    "Discovery document at the tenant's own address",
  ],
  [
    '/.well-known/oauth-authorization-server/:tenant_id/v2.0',
    'get_tenant_authorization_server',
    "Authorization server metadata of the tenant's own address (RFC 8414)",
  ],
] as const

/** Keys and discovery documents. */
export async function metadataRoutes(app: FastifyInstance, { provider, settings, tenantIdAs }: MetadataOptions) {
  const scopes = audiencesOf(settings).map(scopeOf)
  const jwksSchema = {
    response: { 200: JwksSchema },
    summary: 'Keys that verify identity-provider tokens',
    operationId: 'get_jwks',
  }
  app.get('/.well-known/jwks.json', { schema: { ...jwksSchema, tags: TAGS, security: [] } }, async () =>
    provider.jwks(),
  )

  const response = { 200: DiscoverySchema }
  for (const [path, operationId, summary] of METADATA) {
    const schema = { response, summary, operationId, tags: TAGS, security: [] }
    app.get(path, { schema }, async ({ headers }) =>
      discoveryDocument({ url: provider.origin.under(headers.host), scopes }),
    )
  }
  for (const [path, operationId, summary] of TENANT_METADATA) {
    const schema = { params: TenantParamsSchema, response, summary, operationId, tags: TAGS, security: [] }
    const config = { errors: ['not_found', 'sandbox_starting'] } as const
    app.get<{ Params: Static<typeof TenantParamsSchema> }>(path, { schema, config }, async ({ headers, params }) => {
      const tenantId = await tenantIdAs(params.tenant_id)
      if (tenantId !== undefined) {
        return discoveryDocument({ url: provider.origin.under(headers.host), tenantId, scopes })
      }
      const detail = `There is no tenant ${shorten(params.tenant_id)}; its tenant_id is expected.`
      throw new Problem('not_found', { detail, param: 'tenant_id' })
    })
  }
}

/** Subject of a discovery document. */
interface Discovered {
  /** The URL that the request came under. */
  url: string
  /** For the issuer at a tenant's own address. */
  tenantId?: string | undefined
  /** Scopes that a client may ask for. */
  scopes: string[]
}

/** Paths of the endpoints; with a tenant, its own paths, in the form of Entra ID. */
export function endpointPaths(tenantId?: string) {
  return tenantId === undefined
    ? { token: '/oauth2/token', authorize: '/oauth2/authorize' }
    : { token: `/${tenantId}/oauth2/v2.0/token`, authorize: `/${tenantId}/oauth2/v2.0/authorize` }
}

/** Builds the metadata that an OAuth client library starts from (RFC 8414, OpenID Connect Discovery). */
function discoveryDocument({ url, tenantId, scopes }: Discovered): Static<typeof DiscoverySchema> {
  const { token, authorize } = endpointPaths(tenantId)
  return {
    issuer: issuerAt(url, tenantId),
    // Microsoft's libraries do not accept a discovery document without it.
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
