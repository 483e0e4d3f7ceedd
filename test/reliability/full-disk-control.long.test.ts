import { interruptedResets, openOnce, refusedMoves, refusedNamespaces } from './full-disk-control.ts'

openOnce()

interruptedResets([0, 1, 2, 4, 12])
refusedNamespaces([0, 1, 2, 5, 8, 13])
refusedMoves([{ advance: '8d' }, { freeze: true }])
