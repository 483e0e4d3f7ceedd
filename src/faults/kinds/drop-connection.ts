import { Type } from '@sinclair/typebox'
import { ExchangeEnded } from '../../domain/exchange.ts'
import { OPERATIONS } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'
import { Choice, withDefault } from '../parameters.ts'

const HOW = {
  reset: 'The connection is reset',
  close: 'The connection is closed without an answer',
  truncate: 'The connection is closed in the middle of the answer',
}

/** Bytes of the body that are sent before a truncation, unless the rule says otherwise. */
const BYTES = 16

/** The connection breaks. A transfer under way is still carried out (spec: endpoint 5, rule 2). */
export const dropConnection = defineKind({
  kind: 'drop_connection',
  scope: 'exchange',
  group: 'connection',
  phases: ['during_response', 'on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation'],
  operations: OPERATIONS,
  with: Type.Object(
    {
      how: withDefault('reset', Choice(['reset', 'close', 'truncate'], { description: 'How the connection ends.' })),
      bytes: Type.Optional(
        Type.Integer({ minimum: 0, description: `Bytes of the body sent before a truncation; ${BYTES} by default.` }),
      ),
    },
    { additionalProperties: false },
  ),
  check: ({ how, bytes }) =>
    bytes !== undefined && how !== 'truncate'
      ? { path: ['bytes'], message: `${bytes} is given with how "${how}"`, fix: 'bytes goes with how "truncate" only' }
      : undefined,
  explain: ({ how, bytes = BYTES }, when) =>
    `${HOW[how]} ${when}${how === 'truncate' ? `, after ${bytes} bytes of its body` : ''}.`,
  strike({ exchange, with: { how, bytes = BYTES }, phase }) {
    exchange.drop(how === 'truncate' ? { how, bytes } : { how })
    // The request is dropped before anything was done, so it does not happen. With `truncate` it does: there must be an answer.
    if (phase === 'on_request' && how !== 'truncate') throw new ExchangeEnded()
  },
})
