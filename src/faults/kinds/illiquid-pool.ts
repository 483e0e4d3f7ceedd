import { Type } from '@sinclair/typebox'
import { For, keepPoolBroken, lasting, OF_A_POOL, PoolId } from '../chain-fault.ts'
import { defineKind } from '../fault-kind.ts'

/** Everything in the pool is lent out, so it cannot pay, as may happen to any lending market. Assumption `transfer-errors`. */
export const illiquidPool = defineKind({
  kind: 'illiquid_pool',
  ...OF_A_POOL,
  phases: ['before_broadcast', 'on_request'],
  with: Type.Object({ pool: PoolId, for: For }, { additionalProperties: false }),
  explain: ({ pool = 'of the transfer', ...parameters }, when) =>
    `The pool ${pool} has lent everything out ${when}, ${lasting(parameters)}: withdrawals are 422 transaction_reverted.`,
  strike: (strike) => keepPoolBroken(strike, 'liquidity', (chain, pool) => chain.setPoolLiquid(pool, false)),
})
