import { healedByReset, OTHERS, openHostile } from './hostile-methods.ts'

openHostile()

healedByReset(OTHERS)
