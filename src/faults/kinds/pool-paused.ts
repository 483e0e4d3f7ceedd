import { Type } from '@sinclair/typebox'
import { For, keepPoolBroken, lasting, OF_A_POOL, PoolId } from '../chain-fault.ts'
import { defineKind } from '../fault-kind.ts'

/** The pool is paused for a while, as its owner can decide: deposits and withdrawals revert. Assumption `transfer-errors`. */
export const poolPaused = defineKind({
  kind: 'pool_paused',
  ...OF_A_POOL,
  phases: ['before_broadcast', 'on_request'],
  with: Type.Object({ pool: PoolId, for: For }, { additionalProperties: false }),
  explain: ({ pool = 'of the transfer', ...parameters }, when) =>
    `The pool ${pool} is paused ${when}, ${lasting(parameters)}: 422 transaction_reverted.`,
  strike: (strike) => keepPoolBroken(strike, 'transfers', (chain, pool) => chain.setPoolPaused(pool, true)),
})
