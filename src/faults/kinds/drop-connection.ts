import { Type } from '@sinclair/typebox'
import { ExchangeEnded } from '../../domain/exchange.ts'
import { defineKind } from '../fault-kind.ts'

const HOW = {
  reset: 'The connection is reset',
  close: 'The connection is closed without an answer',
  truncate: 'The connection is closed in the middle of the answer',
}

/** The connection breaks. A transfer under way is still processed (spec: endpoint 5, rule 2). */
export const dropConnection = defineKind({
  kind: 'drop_connection',
  phases: ['during_response', 'on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation'],
  with: Type.Object(
    {
      how: Type.Optional(
        Type.Union([Type.Literal('reset'), Type.Literal('close'), Type.Literal('truncate')], { default: 'reset' }),
      ),
      bytes: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes of the body sent before a truncation.' })),
    },
    { additionalProperties: false },
  ),
  explain: ({ how = 'reset', bytes = 16 }) =>
    how === 'truncate' ? `${HOW.truncate}, after ${bytes} bytes.` : `${HOW[how]}.`,
  strike({ exchange, with: { how = 'reset', bytes = 16 }, phase }) {
    exchange.drop(how === 'truncate' ? { how, bytes } : { how })
    // Dropped before anything was read, the request has not happened.
    if (phase === 'on_request') throw new ExchangeEnded()
  },
})
