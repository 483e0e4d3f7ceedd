import { type Cause, refusedFor, shown } from './cause.ts'

/** The signature does not verify: another private key than the registered one (spec: User token 1, 4). */
export const userTokenKey: Cause = {
  id: 'user-token-key',
  check: 'user_token',
  diagnose(exchange, around) {
    if (!refusedFor(exchange, { check: 'user_token', aspects: ['signature'] }, around)) return undefined
    const kid = shown(exchange.request.user_token?.header?.kid)
    return {
      title: 'The user tokens are signed with another private key than the registered one',
      expected: `a signature that the public key ${kid} verifies`,
      came: 'a signature that it does not verify',
      fix: 'Sign user tokens with the private key of the credentials: YIELD_PRIVATE_KEY_PEM (private_key_pem of GET /_sandbox/credentials). In an environment variable, its line breaks must survive.',
    }
  },
}
