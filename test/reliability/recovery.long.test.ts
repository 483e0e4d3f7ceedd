import { describe, test } from 'vitest'
import { CASES, diesAgain, finishedOnce, finishedTogether, openBoth, POOLS, STAGES } from './recoveries.ts'

openBoth()

describe.each(STAGES)('the sandbox dies when a transfer is %s', (stage) => {
  test.each(CASES.flatMap((each) => POOLS.map((pool) => [each[0], pool, each] as const)))(
    '%s (%s) is finished once, and answered as if nothing had happened',
    (_, pool, each) => finishedOnce(stage, pool, each),
  )

  test('portfolios of one wallet are finished together', () => finishedTogether(stage))

  test('dying again in the middle of it changes nothing', () => diesAgain(stage))
})
