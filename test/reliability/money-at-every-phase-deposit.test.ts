import { playRows } from './money-rows.ts'
import { documentedRows, type Row } from './money-table.ts'

const rows = documentedRows('deposit')

/** A fresh key is another transfer, so what comes of it follows from whether the first one is ever listed: one row of either kind of each phase. */
const told = new Set<string>()
const withFresh = rows.filter(({ phase, list }) => {
  const kind = `${phase} ${list === 'never'}`
  return !told.has(kind) && told.add(kind)
})

// All rows: money-at-every-phase-deposit.long.test.ts.
playRows('deposit', rows, (row: Row) => withFresh.includes(row))
