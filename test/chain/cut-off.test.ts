import { CASES, leavesItsJournal, openFront } from './cut-offs.ts'

openFront()

/** Of a deposit every way of its two transactions; of all else what is hardest, that it is carried out later. */
const telling = CASES.filter(([what, how, call]) =>
  what === 'a deposit' ? call !== 'eth_getLogs' || how === 'Anvil killed' : how === 'carried out later',
)

// The others: cut-off.long.test.ts.
leavesItsJournal(telling, ['carried out later'])
