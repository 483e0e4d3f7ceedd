import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { withDefault } from '../parameters.ts'

/** The identity provider issues a token that soon expires (spec: Identity-provider token 3). */
export const shortLivedToken = defineKind({
  kind: 'short_lived_token',
  scope: 'exchange',
  group: 'tokens',
  phases: ['on_request'],
  operations: ['token'],
  with: Type.Object(
    { expires_in: withDefault(30, Type.Integer({ minimum: 1, maximum: 3600, description: 'Seconds of real time.' })) },
    { additionalProperties: false },
  ),
  explain: ({ expires_in }, when) => `A token that expires after ${expires_in} seconds is issued ${when}.`,
  strike({ exchange, with: { expires_in } }) {
    exchange.tokenWish = { ...exchange.tokenWish, lifetime: expires_in }
  },
})
