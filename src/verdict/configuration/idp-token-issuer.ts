import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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
