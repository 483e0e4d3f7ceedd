import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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
