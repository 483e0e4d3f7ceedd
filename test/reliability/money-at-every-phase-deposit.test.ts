import { playRows } from './money-rows.ts'
import { documentedRows } from './money-table.ts'

const rows = documentedRows('deposit')

/** What a fresh key does depends on the phase alone, or nearly so: one row of each, and those that hold for a deposit alone. */
const withFresh = new Set(
  rows.filter(({ only, phase }, i) => only !== undefined || rows.findIndex((row) => row.phase === phase) === i),
)

// All rows: money-at-every-phase-deposit.long.test.ts.
playRows('deposit', rows, (row) => withFresh.has(row))
