import type { Check } from '../domain/check.ts'
import { requiredHeaders } from '../domain/errors.ts'
import { directoryIdOf, scopeOf, tenantInAddress } from '../domain/idp-claims.ts'
import type { Tenant } from '../domain/records.ts'
import { decodeBase64, formDecode } from '../support/encodings.ts'
import { shorten } from '../support/foreign-text.ts'
import { sameSecret } from '../support/same-secret.ts'

/**
 * Error codes of RFC 6749 §5.2 that the token endpoint answers with. `server_error` is for failures of the sandbox itself, the last one
 * for a sandbox that is not ready (the word is from §4.1.2.1).
 */
export const OAUTH_ERRORS = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
] as const

/** One of {@link OAUTH_ERRORS}. */
export type OAuthErrorCode = (typeof OAUTH_ERRORS)[number]

/** Content of an error of the token endpoint beside its code. */
interface OAuthErrorDetails {
  status?: number
  headers?: Record<string, string>
  /** For the record of the exchange only, as with a Problem. */
  check?: Check
  aspect?: string
  expected?: string
  /** Never a secret. */
  came?: string
}

/** Thrown to answer with an error of RFC 6749 §5.2. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly status: number
  readonly headers: Record<string, string>

  constructor(
    /** One of {@link OAUTH_ERRORS}, or the code that a fault asks for. */
    readonly error: OAuthErrorCode | (string & {}),
    /** ASCII without quotation marks and backslashes (RFC 6749 §5.2). */
    readonly description: string,
    readonly details: OAuthErrorDetails = {},
  ) {
    super(`${error}: ${description}`)
    this.status = details.status ?? 400
    this.headers = { ...requiredHeaders(this.status), ...details.headers }
  }
}

/** A request to the token endpoint, unchecked. */
export interface TokenRequest {
  form: URLSearchParams
  authorization: string | undefined
  /** The tenant that the path names, if any. */
  tenant_id: string | undefined
}

/** Dependencies of {@link authorizeTokenRequest}. */
export interface TokenRequestContext {
  /** Audiences that a client may ask for. */
  audiences: readonly string[]
  findTenant: (clientId: string) => Tenant | undefined
}

/** The tenant that gets a token, and the token's audience. */
export interface TokenGrant {
  tenant: Tenant
  audience: string
}

interface ClientCredentials {
  id: string
  secret: string
}

/**
 * Checks a token request: repeated parameters first, then the client, the grant type, the scope. Throws {@link OAuthError} (spec:
 * Identity-provider token 1, 2; RFC 6749 §2.3, §4.4, §5.2).
 */
export async function authorizeTokenRequest(request: TokenRequest, context: TokenRequestContext): Promise<TokenGrant> {
  refuseRepeated(request.form)
  const tenant = await authenticateClient(request, context)
  const grantType = parameter(request.form, 'grant_type')
  if (grantType !== 'client_credentials') {
    const details = { aspect: 'grant_type', expected: 'client_credentials', came: shorten(grantType) }
    throw new OAuthError('unsupported_grant_type', 'grant_type must be client_credentials', details)
  }
  const scope = parameter(request.form, 'scope')
  const audience = context.audiences.find((audience) => scopeOf(audience) === scope)
  if (audience !== undefined) return { tenant, audience }
  const known = context.audiences.map((audience) => printable(scopeOf(audience)))
  const expected = known.join(' or ')
  throw new OAuthError('invalid_scope', `scope must be ${expected}`, {
    aspect: 'scope',
    expected,
    came: shorten(scope),
  })
}

function refuseRepeated(form: URLSearchParams): void {
  const seen = new Set<string>()
  for (const name of form.keys()) {
    if (seen.has(name)) {
      const details = { aspect: shorten(name), expected: 'once', came: 'more than once' }
      throw new OAuthError('invalid_request', `the parameter ${printable(name)} was given more than once`, details)
    }
    seen.add(name)
  }
}

/** A required parameter; one without a value counts as left out (RFC 6749 §3.2). */
function parameter(form: URLSearchParams, name: string): string {
  const value = form.get(name)
  if (value) return value
  throw new OAuthError('invalid_request', `the parameter ${name} is missing`, { aspect: name, came: 'nothing' })
}

async function authenticateClient(request: TokenRequest, { findTenant }: TokenRequestContext): Promise<Tenant> {
  const { authorization, form, tenant_id } = request
  const { id, secret } = authorization === undefined ? formCredentials(form) : basicCredentials(authorization, form)
  const tenant = findTenant(id)
  // Compared for an unknown client too, so that it takes as long as a wrong secret.
  const authentic = sameSecret(secret, tenant?.client_secret ?? '')
  // The answer does not say which of the two is wrong; only the record does.
  const wrong = !tenant
    ? {
        aspect: 'client_id',
        expected: 'the client_id of a tenant, as GET /_sandbox/credentials has it',
        came: shorten(id),
      }
    : { aspect: 'client_secret', expected: `the client_secret of ${tenant.slug}`, came: 'another one' }
  if (!tenant || !authentic) throw invalidClient('the client is unknown or its secret is wrong', authorization, wrong)
  if (tenant_id !== undefined && tenantInAddress(tenant_id, tenant.tenant_id) === undefined) {
    const details = { aspect: 'tenant_id', expected: directoryIdOf(tenant.tenant_id), came: shorten(tenant_id) }
    throw invalidClient('the client does not belong to the tenant in the path', authorization, details)
  }
  return tenant
}

function formCredentials(form: URLSearchParams): ClientCredentials {
  const id = form.get('client_id')
  const secret = form.get('client_secret')
  if (id && secret) return { id, secret }
  const aspect = id ? 'client_secret' : 'client_id'
  const details = {
    aspect,
    expected: 'client_id and client_secret, in the form or by HTTP Basic',
    came: `no ${aspect}`,
  }
  throw invalidClient('client_id and client_secret are expected in the form, or by HTTP Basic', undefined, details)
}

function basicCredentials(authorization: string, form: URLSearchParams): ClientCredentials {
  if (form.get('client_secret')) {
    throw new OAuthError(
      'invalid_request',
      'the client authenticated twice: in the form and in the Authorization header',
      { aspect: 'client_secret', expected: 'in the form or by HTTP Basic', came: 'both', check: 'client_credentials' },
    )
  }
  const encoded = /^basic +(\S+)$/i.exec(authorization.trim())?.[1] ?? ''
  const pair = decodeBase64(encoded, 'base64')?.toString('utf8')
  const details = { aspect: 'Authorization', expected: 'Basic and the base64 of client_id:client_secret' }
  if (!pair)
    throw invalidClient('the Authorization header holds no Basic credentials in base64', authorization, details)
  const colon = pair.indexOf(':')
  const id = formDecode(pair.slice(0, Math.max(0, colon)))
  const secret = formDecode(pair.slice(colon + 1))
  if (!id || !secret)
    throw invalidClient('Basic credentials are a percent-encoded client_id:client_secret', authorization, details)
  if ((form.get('client_id') || id) === id) return { id, secret }
  const came = shorten(form.get('client_id') ?? '')
  const differs = { aspect: 'client_id', expected: id, came, check: 'client_credentials' } as const
  throw new OAuthError('invalid_request', 'client_id differs from the one in the Authorization header', differs)
}

/**
 * RFC 6749 §5.2: a client that used the Authorization header gets the scheme in a challenge. Others get none, although RFC 9110 requires
 * one with every 401: libraries then take the challenge as the whole error and hide the rest from their users.
 */
function invalidClient(
  description: string,
  authorization: string | undefined,
  details: Pick<OAuthErrorDetails, 'aspect' | 'expected' | 'came'>,
): OAuthError {
  const headers: Record<string, string> =
    authorization === undefined ? {} : { 'www-authenticate': 'Basic realm="identity-provider", charset="UTF-8"' }
  return new OAuthError('invalid_client', description, {
    status: 401,
    headers,
    check: 'client_credentials',
    ...details,
  })
}

/** Text of the client, reduced to the characters of an error_description (RFC 6749 §5.2), shortened. */
function printable(text: string): string {
  return text.slice(0, 100).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
