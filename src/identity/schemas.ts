import { Type } from '@sinclair/typebox'
import { from, named, openList, SPECIFICATION } from '../domain/described-schema.ts'
import { OAUTH_ERRORS } from './token-request.ts'

/** Form of a token request (spec: Identity-provider token 2). */
export const FormSchema = named(
  'TokenRequest',
  Type.Object({
    grant_type: Type.Literal('client_credentials', from(SPECIFICATION)),
    client_id: Type.Optional(Type.String({ description: 'Left out when HTTP Basic is used' })),
    client_secret: Type.Optional(Type.String({ description: 'Left out when HTTP Basic is used' })),
    scope: Type.String({ description: 'The service audience with the suffix /.default' }),
  }),
)

/** Path of the token endpoint of one tenant. */
export const TenantParamsSchema = Type.Object({
  tenant_id: Type.String({ examples: ['0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a01'] }),
})

/** Successful token response (RFC 6749 §5.1); `lifetime` in seconds. */
export const TokenSchema = (lifetime: number) =>
  named(
    'TokenResponse',
    Type.Object(
      {
        token_type: Type.Literal('Bearer', from('idp-lifetime')),
        expires_in: Type.Integer({
          description: 'Seconds. Cache the token until 60 seconds before it expires',
          examples: [lifetime],
          'x-assumption': 'idp-lifetime',
        }),
        ext_expires_in: Type.Integer({ examples: [lifetime] }),
        access_token: Type.String({ 'x-assumption': 'idp-token-claims' }),
      },
      { description: 'The access token' },
    ),
  )

/** Error response (RFC 6749 §5.2). */
export const ErrorSchema = named(
  'OAuthError',
  Type.Object(
    {
      error: named(
        'OAuthErrorCode',
        openList(OAUTH_ERRORS, {
          description: 'An open list: identity providers have words of their own.',
          ...from('idp-errors'),
        }),
      ),
      error_description: Type.String({ description: 'For people.' }),
    },
    { description: 'An error of RFC 6749 §5.2', ...from('idp-errors') },
  ),
)

/** JSON Web Key Set of the identity provider. */
export const JwksSchema = named(
  'JsonWebKeySet',
  Type.Object(
    {
      keys: Type.Array(
        Type.Object({
          kty: Type.String(),
          n: Type.String(),
          e: Type.String(),
          kid: Type.String(),
          alg: Type.String(),
          use: Type.String(),
        }),
      ),
    },
    { description: 'The key set', ...from('idp-metadata') },
  ),
)

/** Discovery document. */
export const DiscoverySchema = named(
  'OpenIdConfiguration',
  Type.Object(
    {
      issuer: Type.String(),
      authorization_endpoint: Type.String(),
      token_endpoint: Type.String(),
      jwks_uri: Type.String(),
      grant_types_supported: Type.Array(Type.String()),
      token_endpoint_auth_methods_supported: Type.Array(Type.String()),
      scopes_supported: Type.Array(Type.String()),
      response_types_supported: Type.Array(Type.String()),
      subject_types_supported: Type.Array(Type.String()),
      id_token_signing_alg_values_supported: Type.Array(Type.String()),
    },
    { description: 'What an OAuth client library starts from', ...from('idp-metadata') },
  ),
)
