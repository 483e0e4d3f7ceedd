import { conservesMoney } from './money-conserved.ts'

// More of them: money.long.test.ts.
conservesMoney(6)
