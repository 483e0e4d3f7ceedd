import { Type } from '@sinclair/typebox'
import { For, keepBroken, lasting } from '../chain-fault.ts'
import { defineKind } from '../fault-kind.ts'
import { SERVICE } from '../parameters.ts'
import { chainRepair } from '../repairs.ts'

/** A chain does not answer for a while: the transfer's own, or every chain at `on_request`. Assumption `transfer-errors`. */
export const chainDown = defineKind({
  kind: 'chain_down',
  scope: 'service',
  group: 'chain',
  phases: ['on_request', 'before_broadcast', 'after_broadcast'],
  operations: SERVICE,
  with: Type.Object({ for: For }, { additionalProperties: false }),
  explain: (parameters, when) => `The chain goes down ${when}, ${lasting(parameters)}: 503 chain_unavailable.`,
  async strike(strike) {
    for (const chain of strike.transfer ? [strike.transfer.chain] : strike.chains.all()) {
      await keepBroken(strike, chainRepair(chain))
    }
  },
})
