import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { TRANSFERS } from '../parameters.ts'

/** The transaction's block is replaced before it is confirmed: the transaction and its hash stay, in another block. */
export const reorg = defineKind({
  kind: 'reorg',
  scope: 'service',
  phases: ['after_broadcast'],
  operations: TRANSFERS,
  with: Type.Object({}, { additionalProperties: false }),
  explain: () => "The transaction's block is replaced by another one that has it as well, before it is confirmed.",
  async strike({ transfer }) {
    await transfer?.chain.reorg()
  },
})
