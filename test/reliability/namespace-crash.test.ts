import { keptNamespace } from './namespace-crash.ts'

// Killed twice, its Anvils as well, and more work each time: namespace-crash.long.test.ts.
keptNamespace([0, 3], 500)
