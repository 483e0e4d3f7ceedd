import { Type } from '@sinclair/typebox'
import { ExchangeEnded } from '../../domain/exchange.ts'
import { OPERATIONS } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'

/** The client gets no answer, and the connection stays open until the rule is cleared. */
export const hang = defineKind({
  kind: 'hang',
  scope: 'exchange',
  group: 'connection',
  phases: ['during_response', 'on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation'],
  operations: OPERATIONS,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) =>
    `Silence begins ${when}: no answer comes, and the connection stays open until the fault is taken away.`,
  strike({ exchange, phase, released }) {
    exchange.hang(released)
    // The request is held before anything was done, so it does not happen.
    if (phase === 'on_request') throw new ExchangeEnded()
  },
})
