import { nothingFails } from './nothing-fails.ts'

nothingFails(300)
