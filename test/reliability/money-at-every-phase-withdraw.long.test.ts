import { playRows } from './money-rows.ts'
import { documentedRows } from './money-table.ts'

playRows('withdraw', documentedRows('withdraw'))
