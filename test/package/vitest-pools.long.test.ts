import { test } from 'vitest'
import { expectStarts } from './vitest-pools.ts'

test.each(['threads', 'vmForks'])("starts in a suite that Vitest runs in its pool '%s'", expectStarts)
