import { interruptedResets, openEachTime, refusedNamespaces } from './full-disk-control.ts'

openEachTime()

interruptedResets([1, 4, 12])
refusedNamespaces([1, 2, 5, 13])
