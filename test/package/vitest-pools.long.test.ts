import { test } from 'vitest'
import { expectStarts } from './vitest-pools.ts'

// In a pool of `vm`, files run in a context of their own, in which Node's import() does not find packages.
test.each(['threads', 'vmThreads', 'vmForks'])("starts in a suite that Vitest runs in its pool '%s'", expectStarts)
