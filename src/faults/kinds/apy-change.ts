import { Type } from '@sinclair/typebox'
import { For, keepPoolBroken, lasting, OF_A_POOL, PoolId } from '../chain-fault.ts'
import { defineKind } from '../fault-kind.ts'

/** The pool pays another yield for a while. */
export const apyChange = defineKind({
  kind: 'apy_change',
  ...OF_A_POOL,
  phases: ['on_request', 'before_broadcast'],
  with: Type.Object(
    {
      pool: PoolId,
      apy: Type.Number({ minimum: 0, maximum: 100, description: 'Yield a year as a fraction: 0.05 is 5 %.' }),
      for: For,
    },
    { additionalProperties: false, examples: [{ apy: 0.05 }] },
  ),
  explain: ({ pool = 'of the transfer', apy, ...parameters }, when) =>
    `The pool ${pool} pays an apy of ${apy} ${when}, ${lasting(parameters)}.`,
  strike: (strike) => keepPoolBroken(strike, 'yield', (chain, pool) => chain.setApy(pool, strike.with.apy)),
})
