import { nothingFails } from './nothing-fails.ts'

// More of them: fuzz.long.test.ts.
nothingFails(30)
