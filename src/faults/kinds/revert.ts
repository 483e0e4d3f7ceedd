import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { TRANSFERS } from '../parameters.ts'

/** The transaction is mined and fails; no funds move. Assumption `transfer-errors`. */
export const revert = defineKind({
  kind: 'revert',
  scope: 'exchange',
  group: 'chain',
  phases: ['before_broadcast'],
  operations: TRANSFERS,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) => `The transfer is spoilt ${when}, which is mined and fails: 422 transaction_reverted.`,
  strike({ transfer }) {
    if (transfer) transfer.revert = true
  },
})
