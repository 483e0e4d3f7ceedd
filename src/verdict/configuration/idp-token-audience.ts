import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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
