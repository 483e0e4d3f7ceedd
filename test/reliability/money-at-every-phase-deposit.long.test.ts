import { playRows } from './money-rows.ts'
import { documentedRows } from './money-table.ts'

playRows('deposit', documentedRows('deposit'))
