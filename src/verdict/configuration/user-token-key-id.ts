import { type Cause, refusedFor, shown } from './cause.ts'

/** `kid` names no key that the tenant registered (spec: User token 2). A missing one is a finding, not a setting. */
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
