import { describe, test } from 'vitest'
import { emptied, emptiedAsListed, openBoth, POOLS } from './withdraw-all.ts'

openBoth()

describe.each(POOLS)('%s', (poolId) => {
  test('Assumption withdraw-all: what a list showed empties the portfolio, whatever accrued since', () =>
    emptiedAsListed(poolId))
})

emptied(POOLS)
