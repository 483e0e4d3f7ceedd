import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { TRANSFERS } from '../parameters.ts'
import { waitForRelease } from '../strike.ts'

/** The transaction never confirms, and the portfolio's later transfers queue behind it, until the rule is cleared. */
export const stuck = defineKind({
  kind: 'stuck',
  scope: 'exchange',
  group: 'chain',
  phases: ['after_broadcast'],
  operations: TRANSFERS,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) => `The transaction is stuck ${when}: it does not confirm until the fault is taken away.`,
  strike: waitForRelease,
})
