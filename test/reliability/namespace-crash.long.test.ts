import { keptNamespace } from './namespace-crash.ts'

keptNamespace([0, 1, 2, 3], 1_500)
