import { emptied, openBoth, POOLS } from './withdraw-all.ts'

openBoth()

emptied(POOLS)
