import { type Cause, refusedFor, skewOf, TIMES } from './cause.ts'

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
