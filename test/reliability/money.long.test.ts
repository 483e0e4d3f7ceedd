import { conservesMoney } from './money-conserved.ts'

conservesMoney(40)
