import { Type } from '@sinclair/typebox'
import { Problem } from '../domain/errors.ts'
import type { IdpTokenChanges } from '../domain/exchange.ts'
import { defineKind, type Strike } from './fault-kind.ts'
import { Choice, OF_END_USER, SERVICE, withDefault } from './parameters.ts'

/** A way in which a token is bad. */
interface TokenFault<K extends string> {
  kind: K
  /** What the service says is wrong with a genuine token. */
  detail: string
  /** What the tokens are that the identity provider issues instead, as in "The identity provider issues …". */
  issues: string
  issued(strike: Strike): IdpTokenChanges
}

const CODES = { user: 'invalid_user_token', idp: 'invalid_idp_token' } as const
const HEADERS = { user: 'X-User-Token', idp: 'Authorization' }

/**
 * A kind that makes a token bad: the service refuses a genuine one, or, on the operation `token`, the identity provider
 * issues bad ones. The latter only when the rule names it: a rule for the service must not be used up by the request for
 * the token that the client needs first.
 */
export function tokenFault<const K extends string>({ kind, detail, issues, issued }: TokenFault<K>) {
  return defineKind({
    kind,
    scope: 'exchange',
    phases: ['on_request'],
    operations: ({ token }) => (token === 'user' ? OF_END_USER : [...SERVICE, 'token']),
    onlyNamed: ['token'],
    with: Type.Object(
      { token: withDefault('user', Choice(['user', 'idp'], { description: 'Which of the two tokens.' })) },
      { additionalProperties: false },
    ),
    explain: ({ token }) =>
      `The ${token === 'user' ? 'user' : 'identity-provider'} token is refused: 401 ${CODES[token]}. ${
        token === 'idp' ? `On the operation token, the identity provider issues ${issues}.` : ''
      }`.trim(),
    strike(strike) {
      const { exchange } = strike
      const { token } = strike.with
      if (exchange.operation !== 'token') throw new Problem(CODES[token], { detail, param: HEADERS[token] })
      const { claims, ...wish } = issued(strike)
      const merged = { ...exchange.tokenWish.claims, ...claims }
      exchange.tokenWish = { ...exchange.tokenWish, ...wish, claims: merged }
    },
  })
}
