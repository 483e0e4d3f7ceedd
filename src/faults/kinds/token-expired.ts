import { tokenFault } from '../token-fault.ts'

const HOUR = 60 * 60

/** The token has expired (spec: User token 4, Identity-provider token 6). */
export const tokenExpired = tokenFault({
  kind: 'token_expired',
  detail: 'The token has expired.',
  issues: 'tokens that expired an hour ago, whatever expires_in says',
  issued({ clock }) {
    const now = Math.floor(clock.wallNow() / 1000)
    return { claims: { iat: now - 2 * HOUR, nbf: now - 2 * HOUR, exp: now - HOUR } }
  },
})
