import { type Cause, claimOf, refusedFor, shown, skewOf, TIMES } from './cause.ts'

/** `kid` names a key that the tenant did not register (spec: User token 2). A missing one is a finding, not a cause. */
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
