import { type Static, Type } from '@sinclair/typebox'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { from, named, openList, SPECIFICATION } from '../domain/described-schema.ts'
import { type ErrorCode, Problem } from '../domain/errors.ts'
import type { IdpTokenChanges } from '../domain/exchange.ts'
import { audiencesOf, issuerAt, scopeOf, tenantInAddress } from '../domain/idp-claims.ts'
import type { Tenant } from '../domain/records.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { hasTooManyParameters, MAX_PARAMETERS } from '../support/encodings.ts'
import { shorten } from '../support/foreign-text.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { authorizeTokenRequest, OAUTH_ERRORS, OAuthError } from './token-request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the body, too, may name the client. */
    clientInBody?: boolean
  }
}

export interface IdentityRoutesOptions extends MetadataOptions {
  /** Returns the tenant with that client id, in the namespace of the request. */
  findTenant(request: FastifyRequest, clientId: string): Tenant | undefined
  /** Changes that faults make to the answer of a token request. */
  wish?(request: FastifyRequest): IdpTokenChanges
  /** Called with the reason when a token request is refused. */
  refused?(request: FastifyRequest, reply: FastifyReply, error: OAuthError): void
}

const TAGS = ['Identity provider']
const FORM = 'application/x-www-form-urlencoded'
const BODY_LIMIT = 16 * 1024
const OTHER_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' }

/**
 * RFC 6749 §4.1.2.1: no client registered a redirect address, so the person gets the error and is not redirected. Discovery documents
 * name the endpoint because libraries require one.
 */
async function refuseAuthorization(): Promise<never> {
  throw new OAuthError(
    'unsupported_response_type',
    'nobody can sign in here: the only grant is client_credentials, by POST to the token endpoint',
  )
}

/** The identity provider's endpoints, to be registered as a Fastify plugin, since it has a body parser and errors of its own. */
export async function identityRoutes(app: FastifyInstance, options: IdentityRoutesOptions): Promise<void> {
  app.register(tokenRoutes, options)
  app.register(metadataRoutes, options)
}

async function tokenRoutes(app: FastifyInstance, options: IdentityRoutesOptions) {
  const { providerOf, settings, findTenant } = options
  const audiences = audiencesOf(settings)
  acceptFormsOnly(app)
  app.setErrorHandler((error: FastifyError | OAuthError | Problem, request, reply) => {
    const refusal = error instanceof OAuthError ? error : inOAuthTerms(error, request)
    options.refused?.(request, reply, refusal)
    return answerError(error, refusal, request, reply)
  })

  const issue = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = readRequest(request)
    const { tenant, audience } = await authorizeTokenRequest(asked, {
      audiences,
      findTenant: (clientId) => findTenant(request, clientId),
    })
    const { refusal, ...wish } = options.wish?.(request) ?? {}
    if (refusal)
      throw new OAuthError(refusal.error, 'a fault of the sandbox', { status: refusal.status, check: 'fault' })
    // The issuer of the discovery document that led here: a strict client compares the two.
    const { tenant_id: written } = asked
    const named = written === undefined ? undefined : tenantInAddress(written, tenant.tenant_id)
    const provider = providerOf(request)
    const issuer = issuerAt(provider.origin.under(request.headers.host), named)
    const token = { ...wish, issuer, audience, tenantInAddress: named }
    const { access_token, expires_in } = await provider.issueToken(tenant, token)
    return reply.headers(NO_STORE).send({ token_type: 'Bearer', expires_in, ext_expires_in: expires_in, access_token })
  }
  const refuseMethod = async ({ method }: FastifyRequest) => {
    const details = { check: 'route', aspect: 'method', expected: 'POST', came: method } as const
    const headers = { allow: 'POST' }
    throw new OAuthError('invalid_request', 'the token endpoint takes POST', { status: 405, headers, ...details })
  }
  // Before the body is read: for these requests the method or the path is wrong, whatever the body.
  const refusing = (refuse: (request: FastifyRequest) => Promise<never>) => ({
    schema: { hide: true },
    exposeHeadRoute: false,
    onRequest: refuse,
    handler: refuse,
  })
  for (const { token, authorize } of [endpointPaths(), endpointPaths(':tenant_id')]) {
    app.post(token, tokenRouteOptions(token, settings), issue)
    app.route({ method: OTHER_METHODS, url: token, config: { operation: 'token' }, ...refusing(refuseMethod) })
    app.route({ method: ['POST', ...OTHER_METHODS], url: authorize, ...refusing(refuseAuthorization) })
  }
}

/** The tenant of the shipped fixture; its secret is public. */
const DEMO = { client_id: '5d1f0c8e-2b4a-4c6d-9e8f-0a1b2c3d4e01', client_secret: 'acme-demo-secret' }

function tokenRouteOptions(url: string, settings: IdentityRoutesOptions['settings']): RouteShorthandOptions {
  const scope = scopeOf(settings.audience)
  const inTenant = url.includes(':tenant_id')
  return {
    bodyLimit: BODY_LIMIT,
    config: { clientInBody: true, operation: 'token' },
    schema: {
      tags: TAGS,
      operationId: inTenant ? 'tenant_token' : 'token',
      summary: inTenant ? "Obtain an access token at the tenant's own address" : 'Obtain an access token',
      description: 'OAuth 2.0 client credentials grant. Credentials go into the form or into HTTP Basic, not both.',
      security: [],
      consumes: [FORM],
      ...(inTenant && { params: TenantParamsSchema }),
      body: { ...FormSchema, examples: [{ grant_type: 'client_credentials', ...DEMO, scope }] },
      response: tokenResponses(settings.idp_token_lifetime),
    },
    // The schema is for the description only; a flaw of a form is answered in the words of RFC 6749.
    validatorCompiler: () => () => true,
  }
}

function acceptFormsOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => {
    const form = body.toString()
    if (!hasTooManyParameters(form)) return done(null, new URLSearchParams(form))
    return done(new OAuthError('invalid_request', `the form has more than ${MAX_PARAMETERS} fields`, { check: 'body' }))
  })
  app.addContentTypeParser('*', (request, _payload, done) => {
    done(wrongContentType(request))
  })
}

function readRequest({ body, headers, params }: FastifyRequest) {
  const form = body instanceof URLSearchParams ? body : new URLSearchParams()
  return { form, authorization: headers.authorization, tenant_id: (params as { tenant_id?: string }).tenant_id }
}

function answerError(error: Error, refusal: OAuthError, request: FastifyRequest, reply: FastifyReply) {
  if (reply.sent) return reply
  const { error: code, description, status, headers } = refusal
  // Errors that a fault asked for, and those of a sandbox that is not ready, are not failures.
  const foreseen = error instanceof OAuthError || error instanceof Problem
  if (status >= 500 && !foreseen) {
    request.log.error({ err: error, namespace: request.namespace.name }, 'the token endpoint failed')
  }
  return reply
    .code(status)
    .headers({ ...NO_STORE, ...headers })
    .send({ error: code, error_description: description })
}

/** OAuth's words for errors that the service's catalogue names differently. */
const OAUTH_WORDS: Partial<Record<ErrorCode, string>> = {
  validation_error: 'invalid_request',
  uri_too_long: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  not_implemented: 'invalid_request',
  sandbox_starting: 'temporarily_unavailable',
  unknown_partner: 'invalid_client',
}

function inOAuthTerms(error: FastifyError | Problem, request: FastifyRequest): OAuthError {
  if (error instanceof Problem) {
    const { code, status, details } = error
    // RFC 6749 §5.2: a description is ASCII without quotation marks and backslashes.
    const description = details.detail.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
    return new OAuthError(OAUTH_WORDS[code] ?? code, description, { ...details, status })
  }
  const { statusCode = 500 } = error
  if (statusCode >= 500)
    return new OAuthError('server_error', 'the sandbox failed', { status: 500, check: 'operation' })
  if (statusCode === 413) {
    const details = { status: 413, check: 'body', aspect: 'body', expected: `at most ${BODY_LIMIT} bytes` } as const
    return new OAuthError('invalid_request', `the body is larger than ${BODY_LIMIT} bytes`, details)
  }
  if (statusCode === 415) return wrongContentType(request)
  return new OAuthError('invalid_request', 'the request is malformed', { check: 'body' })
}

function wrongContentType({ headers }: FastifyRequest): OAuthError {
  const came = shorten(headers['content-type'] ?? 'none')
  const details = { check: 'body', aspect: 'Content-Type', expected: FORM, came } as const
  return new OAuthError('invalid_request', `the content type must be ${FORM}`, details)
}

const header = (description: string) => ({ description, schema: { type: 'string' }, ...from('idp-errors') })

const NOT_KEPT = { 'Cache-Control': header('no-store: RFC 6749 §5.1.'), Pragma: header('no-cache: RFC 6749 §5.1.') }

const WHEN = {
  400: 'What is wrong with the form: RFC 6749 §5.2.',
  401: 'The client is unknown, or its secret is wrong.',
  413: 'The form is over 16 KiB.',
  414: 'Path and query are over 8 KiB.',
  415: 'The body is coded.',
  429: 'There were as many requests in this second as the quota of the namespace lets through, or a fault asks for it.',
  500: 'The sandbox failed, or a fault asks for it.',
  501: 'The transfer coding is not known.',
  502: 'A fault asks for it.',
  503: 'Not ready yet, or a fault asks for it.',
  504: 'A fault asks for it.',
}

const CHALLENGE = { 'WWW-Authenticate': header('Basic, for a client that used the Authorization header.') }

/** All answers of the token endpoint, for the description; `lifetime` of a token in seconds. */
const tokenResponses = (lifetime: number) => ({
  200: {
    description: 'The access token. Cache it until 60 seconds before it expires.',
    ...from(SPECIFICATION),
    headers: NOT_KEPT,
    content: { 'application/json': { schema: TokenSchema(lifetime) } },
  },
  ...Object.fromEntries(
    Object.entries(WHEN).map(([status, description]) => [
      status,
      {
        description,
        ...from('idp-errors'),
        headers: { ...NOT_KEPT, ...(status === '401' && CHALLENGE) },
        content: { 'application/json': { schema: ErrorSchema } },
      },
    ]),
  ),
})

/** Dependencies of the metadata routes. */
interface MetadataOptions {
  /** The identity provider of the sandbox that a request came to. */
  providerOf(request: FastifyRequest): IdentityProvider
  settings: Pick<ServiceSettings, 'audience' | 'idp_scopes' | 'idp_token_lifetime'>
  /** Returns the tenant that an address names in any case, as it is to be written. Throws Problem while the tenants are not known yet. */
  tenantInAddress(request: FastifyRequest, written: string): Promise<string | undefined>
}

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
async function metadataRoutes(app: FastifyInstance, { providerOf, settings, tenantInAddress }: MetadataOptions) {
  const scopes = audiencesOf(settings).map(scopeOf)
  const jwksSchema = {
    response: { 200: JwksSchema },
    summary: 'Keys that verify identity-provider tokens',
    operationId: 'get_jwks',
  }
  app.get('/.well-known/jwks.json', { schema: { ...jwksSchema, tags: TAGS, security: [] } }, async (request) =>
    providerOf(request).jwks(),
  )

  const urlOf = (request: FastifyRequest) => providerOf(request).origin.under(request.headers.host)
  const response = { 200: DiscoverySchema }
  for (const [path, operationId, summary] of METADATA) {
    const schema = { response, summary, operationId, tags: TAGS, security: [] }
    app.get(path, { schema }, async (request) => discoveryDocument({ url: urlOf(request), scopes }))
  }
  for (const [path, operationId, summary] of TENANT_METADATA) {
    const schema = { params: TenantParamsSchema, response, summary, operationId, tags: TAGS, security: [] }
    const config = { errors: ['not_found', 'sandbox_starting'] } as const
    app.get<{ Params: Static<typeof TenantParamsSchema> }>(path, { schema, config }, async (request) => {
      const { tenant_id } = request.params
      const tenantId = await tenantInAddress(request, tenant_id)
      if (tenantId !== undefined) return discoveryDocument({ url: urlOf(request), tenantId, scopes })
      const detail = `There is no tenant ${shorten(tenant_id)}; its tenant_id or directory_id is expected.`
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
function endpointPaths(tenantId?: string) {
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

/** Form of a token request (spec: Identity-provider token 2). */
const FormSchema = named(
  'TokenRequest',
  Type.Object({
    grant_type: Type.Literal('client_credentials', from(SPECIFICATION)),
    client_id: Type.Optional(Type.String({ description: 'Left out when HTTP Basic is used' })),
    client_secret: Type.Optional(Type.String({ description: 'Left out when HTTP Basic is used' })),
    scope: Type.String({ description: 'The service audience with the suffix /.default' }),
  }),
)

/** Path of the token endpoint of one tenant. */
const TenantParamsSchema = Type.Object({
  tenant_id: Type.String({ examples: ['0a1c3e5a-7b9d-4f10-8a2b-4c6d8e0f1a01'] }),
})

/** Successful token response (RFC 6749 §5.1); `lifetime` in seconds. */
const TokenSchema = (lifetime: number) =>
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
const ErrorSchema = named(
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
const JwksSchema = named(
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
const DiscoverySchema = named(
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
