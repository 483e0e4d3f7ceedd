import { test } from 'vitest'
import { expectNoneLost } from './chain-down-then-reorg.ts'

test('a chain that is cut off in the midst of a block, then reorganised, loses no transaction it told of', () =>
  expectNoneLost(14))
