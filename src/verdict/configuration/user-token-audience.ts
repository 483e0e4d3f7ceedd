import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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
