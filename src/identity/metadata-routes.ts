import type {} from '@fastify/swagger'
import type { Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { audiencesOf, scopeOf } from '../domain/audiences.ts'
import { Problem } from '../domain/errors.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { shorten } from '../support/foreign-text.ts'
import { discoveryDocument } from './discovery-document.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { DiscoverySchema, JwksSchema, TenantParamsSchema } from './schemas.ts'

/** What the metadata is made from. */
export interface MetadataOptions {
  provider: IdentityProvider
  settings: Pick<ServiceSettings, 'audience' | 'idp_scopes' | 'idp_token_lifetime'>
  /** The id of the tenant that an address names, be it in another case. Throws Problem while the tenants are not known yet. */
  tenantIdAs(written: string): Promise<string | undefined>
}

const TAGS = ['Identity provider']

/** By issuer, the well-known addresses of its metadata: OpenID Connect Discovery §4 appends, RFC 8414 §3.1 inserts. */
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
