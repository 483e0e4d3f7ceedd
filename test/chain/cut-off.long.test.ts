import { CASES, leavesItsJournal, OUTLIVED, openFront } from './cut-offs.ts'

openFront()

leavesItsJournal(CASES, OUTLIVED)
