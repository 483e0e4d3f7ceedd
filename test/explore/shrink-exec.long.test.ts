import { test } from 'vitest'
import { expectNothingToShrink, NOTHING, scenariosFolder } from './shrinking.ts'

scenariosFolder()

test.each([NOTHING.noFailure!, NOTHING.noFault!])('says that there is nothing to shrink when %s', (...nothing) =>
  expectNothingToShrink(nothing),
)
