import { Type } from '@sinclair/typebox'
import { defineKind } from '../fault-kind.ts'
import { TRANSFERS } from '../parameters.ts'

/** The transaction's block is replaced before it is confirmed: the transaction and its hash stay, in another block. */
export const reorg = defineKind({
  kind: 'reorg',
  scope: 'service',
  group: 'chain',
  phases: ['after_broadcast'],
  operations: TRANSFERS,
  with: Type.Object({}, { additionalProperties: false }),
  explain: (_, when) =>
    `The block is replaced ${when}, before it is confirmed: another one has the transaction as well.`,
  async strike({ transfer }) {
    await transfer?.chain.reorg()
  },
})
