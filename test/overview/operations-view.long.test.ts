import { openViewed, sameRows } from './rows-of-stream.ts'

openViewed()

sameRows([2, 3])
