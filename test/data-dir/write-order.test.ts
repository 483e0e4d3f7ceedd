import { keepsTheOrderOfWrites } from './write-order.ts'

// More of them: write-order.long.test.ts.
keepsTheOrderOfWrites({ runs: 15, writes: 80 })
