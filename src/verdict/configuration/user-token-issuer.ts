import { type Cause, claimOf, refusedFor, shown } from './cause.ts'

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
