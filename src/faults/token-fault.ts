import { Type } from '@sinclair/typebox'
import { Problem } from '../domain/errors.ts'
import type { IdpTokenChanges } from '../domain/exchange.ts'
import { defineKind } from './fault-kind.ts'
import { Choice, OF_END_USER, SERVICE, withDefault } from './parameters.ts'
import type { Strike } from './strike.ts'

/** A way in which a token is bad. */
interface TokenFault<K extends string> {
  kind: K
  /** Detail of the service's refusal of a genuine token. */
  detail: string
  /** The tokens that are issued instead, in words that follow "The identity provider issues". */
  issues: string
  /** Changes to the tokens that are issued. */
  issued(strike: Strike): IdpTokenChanges
}

const CODES = { user: 'invalid_user_token', idp: 'invalid_idp_token' } as const
const HEADERS = { user: 'X-User-Token', idp: 'Authorization' }

/**
 * Defines a kind that makes a token bad: the service refuses a genuine token, or the identity provider issues bad ones. It strikes
 * the operation `token` only when the rule names it: the client gets its token first, which must not use up a rule for the
 * service.
 */
export function tokenFault<const K extends string>({ kind, detail, issues, issued }: TokenFault<K>) {
  return defineKind({
    kind,
    scope: 'exchange',
    group: 'tokens',
    phases: ['on_request'],
    operations: ({ token }) => (token === 'user' ? OF_END_USER : [...SERVICE, 'token']),
    onlyNamed: ['token'],
    with: Type.Object(
      { token: withDefault('user', Choice(['user', 'idp'], { description: 'Which of the two tokens.' })) },
      { additionalProperties: false },
    ),
    explain: ({ token }, when) =>
      `The ${token === 'user' ? 'user' : 'identity-provider'} token is refused ${when}: 401 ${CODES[token]}. ${
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
