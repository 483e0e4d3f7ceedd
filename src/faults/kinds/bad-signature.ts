import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { defineKind } from '../fault-kind.ts'

/** A genuine token is refused as if its signature did not verify (spec: Authentication, User token 4). */
export const badSignature = defineKind({
  kind: 'bad_signature',
  phases: ['on_request'],
  with: Type.Object(
    { token: Type.Optional(Type.Union([Type.Literal('user'), Type.Literal('idp')], { default: 'user' })) },
    { additionalProperties: false },
  ),
  applies: (exchange, { token = 'user' }) =>
    exchange.operation !== 'token' && (token === 'idp' || exchange.has_user_token),
  explain: ({ token = 'user' }) =>
    token === 'user'
      ? 'The user token is refused: 401 invalid_user_token.'
      : 'The identity-provider token is refused: 401 invalid_idp_token.',
  strike({ with: { token = 'user' } }) {
    throw token === 'user'
      ? new Problem('invalid_user_token', { detail: 'The signature does not verify.', param: 'X-User-Token' })
      : new Problem('invalid_idp_token', { detail: 'The signature does not verify.' })
  },
})
