import { keepsTheOrderOfWrites } from './write-order.ts'

keepsTheOrderOfWrites({ runs: 100, writes: 200 })
