import { type Cause, claimOf, refusedFor, shown, skewOf, TIMES } from './cause.ts'

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
