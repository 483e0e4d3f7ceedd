import { keptNamespace } from './namespace-crash.ts'

// Killed twice, its Anvils as well, ended while it rests, and more work each time: namespace-crash.long.test.ts.
keptNamespace([0], 500)
