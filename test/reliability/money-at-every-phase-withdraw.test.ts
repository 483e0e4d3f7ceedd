import { playRows } from './money-rows.ts'
import { documentedRows } from './money-table.ts'

const rows = documentedRows('withdraw')

/** Both operations go the same way through a fault: of a withdrawal, one row of each phase, and those that hold for it alone. */
const own = rows.filter(
  ({ only, phase }, i) => only !== undefined || rows.findIndex((row) => row.phase === phase) === i,
)

// All rows: money-at-every-phase-withdraw.long.test.ts.
playRows('withdraw', own)
