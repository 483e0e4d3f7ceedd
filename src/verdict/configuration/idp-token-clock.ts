import { type Cause, refusedFor, skewOf, TIMES } from './cause.ts'

/** Times of access tokens that this sandbox did not issue are off: its own go by its own clock. */
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
