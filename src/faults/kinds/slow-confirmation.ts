import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { DurationRange, TRANSFERS, withDefault } from '../parameters.ts'
import { wait } from '../strike.ts'

/** The chain is busy: the confirmation takes longer, and the connection stays open meanwhile (spec: endpoint 5, rule 1). */
export const slowConfirmation = defineKind({
  kind: 'slow_confirmation',
  scope: 'exchange',
  group: 'chain',
  phases: ['after_broadcast'],
  operations: TRANSFERS,
  with: Type.Object(
    { delay: withDefault('45s', DurationRange({ description: 'How much longer, on the sandbox clock.' })) },
    { additionalProperties: false },
  ),
  explain: ({ delay }, when) => `The confirmation takes ${delay} longer ${when}.`,
  strike: (strike) => wait(strike.with.delay, strike),
})
