import type { RecordedExchange, Refusal } from '../../traffic/recorded-exchange.ts'
import { type Cause, claimOf, refusedFor, shown, skewOf, TIMES } from './cause.ts'

/** The form of the token request is not that of RFC 6749 §4.4 (spec: Identity-provider token 1, 2). */
export const tokenRequest: Cause = {
  id: 'token-request',
  check: 'client_credentials',
  diagnose(exchange) {
    const refusal = tokenRefusal(exchange, ['grant_type', 'content-type'])
    if (!refusal) return undefined
    const form = refusal.aspect?.toLowerCase() === 'content-type'
    return {
      title: form ? 'The token request is no form' : 'The token request asks for another grant',
      expected: refusal.expected ?? (form ? 'application/x-www-form-urlencoded' : 'grant_type client_credentials'),
      came: refusal.came ?? 'none',
      fix: form
        ? 'Send the fields of the token request as application/x-www-form-urlencoded, not as JSON.'
        : 'Set grant_type to client_credentials.',
    }
  },
}

/** The refusal by the token endpoint, if it was for one of these aspects and no fault caused it. */
export function tokenRefusal(exchange: RecordedExchange, aspects: readonly string[]): Refusal | undefined {
  const { operation, refusal, faults } = exchange
  if (operation !== 'token' || refusal === null || faults.length > 0) return undefined
  return aspects.includes(refusal.aspect?.toLowerCase() ?? '') ? refusal : undefined
}

/** The token endpoint does not know the application (RFC 6749 §5.2). */
export const clientId: Cause = {
  id: 'client-id',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_id'] }, around)) return undefined
    return {
      title: 'The client id is not that of a registered application',
      expected: exchange.refusal?.expected ?? 'the client id of a registered application',
      came: `client_id ${shown(exchange.request.client_id)}`,
      fix: 'Use the client id of the credentials: YIELD_CLIENT_ID (client_id of GET /_sandbox/credentials). Each namespace has its own.',
    }
  },
}

/** The token endpoint knows the application, but the secret is wrong (RFC 6749 §5.2). */
export const clientSecret: Cause = {
  id: 'client-secret',
  check: 'client_credentials',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'client_credentials', aspects: ['client_secret'] }, around)) return undefined
    const { client_id } = exchange.request
    return {
      title: 'The client secret is wrong',
      expected: client_id === null ? 'client_id and client_secret' : `the secret of ${client_id.slice(0, 100)}`,
      came: exchange.refusal?.came ?? 'another secret',
      fix: 'Use the client secret of the credentials: YIELD_CLIENT_SECRET (client_secret of GET /_sandbox/credentials). In HTTP Basic, id and secret are percent-encoded.',
    }
  },
}

/** The scope is not `<service_audience>/.default` (spec: Identity-provider token 2). */
export const tokenScope: Cause = {
  id: 'token-scope',
  check: 'client_credentials',
  diagnose(exchange, { settings }) {
    const refusal = tokenRefusal(exchange, ['scope'])
    if (!refusal) return undefined
    return {
      title: 'The scope of the token request is not that of the service',
      expected: `scope ${refusal.expected ?? `${settings.audience}/.default`}`,
      came: `scope ${refusal.came ?? 'none'}`,
      fix: 'Ask for the scope of the credentials: YIELD_SCOPE (scope of GET /_sandbox/credentials).',
    }
  },
}

const FIX =
  'Use the tenant id of the credentials in the address of the token endpoint: tenant_id of GET /_sandbox/credentials.'

/** The access token has another tenant id than the application. */
export const tenantId: Cause = {
  id: 'tenant-id',
  check: 'idp_token',
  diagnose(exchange, around) {
    const inPath = tokenRefusal(exchange, ['tenant_id'])
    if (inPath)
      return {
        title: 'The address of the token endpoint has the id of another tenant',
        expected: inPath.expected ?? 'the tenant of the application',
        came: inPath.came ?? shown(exchange.request.path),
        fix: FIX,
      }
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['tid'] }, around)) return undefined
    return {
      title: 'The access tokens are of another tenant than the application',
      expected: `tid ${exchange.refusal?.expected ?? 'of the application'}`,
      came: `tid ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'tid'))}`,
      fix: FIX,
    }
  },
}

/** The access token is another identity provider's (assumption: idp-token-issuer). */
export const idpTokenIssuer: Cause = {
  id: 'idp-token-issuer',
  check: 'idp_token',
  diagnose(exchange, around) {
    const { refusal, request } = exchange
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['iss', 'kid', 'signature'] }, around)) return undefined
    const issuer = shown(claimOf(request.idp_token, 'iss'))
    return {
      title: "The access tokens are not this sandbox's identity provider's",
      expected: refusal?.expected ?? 'a token of the token endpoint of this sandbox',
      came: `a token with iss ${issuer}`,
      fix: 'Get access tokens from the token endpoint of the credentials: YIELD_AUTH_URL (auth_url of GET /_sandbox/credentials).',
    }
  },
}

/** The access token is for another service (spec: Identity-provider token 6). */
export const idpTokenAudience: Cause = {
  id: 'idp-token-audience',
  check: 'idp_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['aud'] }, around)) return undefined
    return {
      title: 'The access tokens are for another audience than the service',
      expected: `aud ${exchange.refusal?.expected ?? around.settings.audience}`,
      came: `aud ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'aud'))}`,
      fix: 'Ask for access tokens with the scope of the credentials: YIELD_SCOPE (scope of GET /_sandbox/credentials).',
    }
  },
}

/** `appid` of the access token matches no tenant (spec: Identity-provider token 4). */
export const idpTokenApplication: Cause = {
  id: 'idp-token-application',
  check: 'idp_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'idp_token', aspects: ['appid'] }, around)) return undefined
    return {
      title: 'The access tokens are of an application that is not registered',
      expected: `appid ${exchange.refusal?.expected ?? 'of a registered application'}`,
      came: `appid ${exchange.refusal?.came ?? shown(claimOf(exchange.request.idp_token, 'appid'))}`,
      fix: 'Get access tokens with the client id and secret of the credentials: YIELD_CLIENT_ID and YIELD_CLIENT_SECRET. Each namespace has its own.',
    }
  },
}

/** The times of access tokens are wrong. Only of tokens that this sandbox did not issue: its own follow its own clock. */
export const idpTokenClock: Cause = {
  id: 'idp-token-clock',
  check: 'idp_token',
  diagnose(exchange, around) {
    const { idp_token } = exchange.request
    if (idp_token === null || around.issued.has(idp_token.fingerprint)) return undefined
    if (!refusedFor(exchange, { check: 'idp_token', aspects: TIMES }, around)) return undefined
    return skewOf(exchange, idp_token, 'access tokens')
  },
}

/** `kid` names a key that the tenant did not register (spec: User token 2). A missing one is a finding, not a cause. */
export const userTokenKeyId: Cause = {
  id: 'user-token-key-id',
  check: 'user_token',
  diagnose(exchange, around) {
    const { refusal, request } = exchange
    const kid = request.user_token?.header?.kid
    if (typeof kid !== 'string' || kid === '') return undefined
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['kid'] }, around)) return undefined
    return {
      title: 'The user tokens name a key that is not registered',
      expected: `kid ${refusal?.expected ?? 'of a registered key'}`,
      came: `kid ${refusal?.came ?? shown(kid)}`,
      fix: 'Put the key id of the credentials into the header of user tokens: YIELD_KEY_ID (kid of GET /_sandbox/credentials).',
    }
  },
}

/** The signature does not verify: another private key than the registered one (spec: User token 1, 4). */
export const userTokenKey: Cause = {
  id: 'user-token-key',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['signature'] }, around)) return undefined
    const kid = shown(exchange.request.user_token?.header?.kid)
    return {
      title: 'The user tokens are signed with another private key than the registered one',
      expected: `a signature that the public key ${kid} verifies`,
      came: 'a signature that it does not verify',
      fix: 'Sign user tokens with the private key of the credentials: YIELD_PRIVATE_KEY_PEM (private_key_pem of GET /_sandbox/credentials). In an environment variable, its line breaks must survive.',
    }
  },
}

/** `iss` is not the issuer registered for the tenant (spec: User token 3). */
export const userTokenIssuer: Cause = {
  id: 'user-token-issuer',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['iss'] }, around)) return undefined
    const { refusal, request } = exchange
    return {
      title: 'The user tokens have another issuer than the one registered',
      expected: `iss ${refusal?.expected ?? 'as registered for the tenant'}`,
      came: `iss ${exchange.refusal?.came ?? shown(claimOf(request.user_token, 'iss'))}`,
      fix: 'Mint user tokens with the issuer of the credentials: YIELD_ISSUER (issuer of GET /_sandbox/credentials).',
    }
  },
}

/** `aud` is not the service audience (spec: User token 3). */
export const userTokenAudience: Cause = {
  id: 'user-token-audience',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['aud'] }, around)) return undefined
    return {
      title: 'The user tokens are for another audience than the service',
      expected: `aud ${exchange.refusal?.expected ?? around.settings.audience}`,
      came: `aud ${exchange.refusal?.came ?? shown(claimOf(exchange.request.user_token, 'aud'))}`,
      fix: 'Mint user tokens for the audience of the credentials: YIELD_AUDIENCE (audience of GET /_sandbox/credentials).',
    }
  },
}

/** `iat` or `nbf` of the user tokens is in the future, or `exp` has passed although they are new: the client's clock is wrong. */
export const userTokenClock: Cause = {
  id: 'user-token-clock',
  check: 'user_token',
  diagnose(exchange, around) {
    const { user_token } = exchange.request
    if (user_token === null || around.accepted.has(user_token.fingerprint)) return undefined
    if (!refusedFor(exchange, { check: 'user_token', aspects: TIMES }, around)) return undefined
    return skewOf(exchange, user_token, 'user tokens')
  },
}
