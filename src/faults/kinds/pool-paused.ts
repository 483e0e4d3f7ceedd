import { Type } from '@sinclair/typebox'
import { checkPool, For, keepPoolBroken, lasting, PoolId } from '../chain-damage.ts'
import { defineKind } from '../fault-kind.ts'
import { SERVICE } from '../operation-groups.ts'

/** The pool takes nothing and gives nothing for a while, as its owner can decide. Assumption `transfer-errors`. */
export const poolPaused = defineKind({
  kind: 'pool_paused',
  scope: 'service',
  phases: ['before_broadcast', 'on_request'],
  operations: SERVICE,
  with: Type.Object({ pool: PoolId, for: For }, { additionalProperties: false }),
  check: checkPool,
  pool: ({ pool }) => pool,
  explain: ({ pool = 'of the transfer', ...parameters }) =>
    `The pool ${pool} is paused ${lasting(parameters)}: 422 transaction_reverted.`,
  strike: (strike) =>
    keepPoolBroken(strike, {
      what: 'transfers',
      change: (chain, pool) => chain.setPoolPaused(pool, true),
      mend: (chain, pool) => chain.setPoolPaused(pool, false),
    }),
})
